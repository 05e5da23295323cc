// Package damage reads the files of the embedded engine without the engine, to find the losses of
// a disk: unreadable records (block.go, store.go), states of consumers, and files that have
// changed since a clean stop (stop.go). The engine would cut off too much at its start, so the
// damage is set aside and cut out more carefully (contain.go).
//
// It knows the layout of the engine's store, but not the meaning of events and records: package
// jetstream compares the rest with what there was.
package damage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// A Loss is a damage that was found.
type Loss struct {
	Stream      string
	File        string // below the folder of the streams
	First, Last uint64 // messages that are lost; 0: the file does not tell
	Problem     string
}

func (l Loss) String() string { return l.File + ": " + l.Problem + l.messages() }

// Public says the same without the name of the file.
func (l Loss) Public() string { return "the stream " + l.Stream + ": " + l.Problem + l.messages() }

func (l Loss) messages() string {
	switch {
	case l.First == 0 && l.Last == 0:
		return ""
	case l.First == l.Last:
		return fmt.Sprintf("; message %d is lost", l.First)
	case l.First == 0:
		return fmt.Sprintf("; messages up to %d are lost", l.Last)
	case l.Last == 0:
		return fmt.Sprintf("; messages from %d on are lost", l.First)
	default:
		return fmt.Sprintf("; messages %d to %d are lost", l.First, l.Last)
	}
}

// A Store is the folder that the embedded engine keeps its streams in.
type Store struct {
	Dir string

	// Reads says which streams are read, by their names and the bytes of their
	// messages; nil: all.
	Reads func(stream string, size int64) bool
}

// Of returns the store of an engine in a folder.
func Of(dir string) Store { return Store{Dir: filepath.Join(dir, "jetstream", "$G", "streams")} }

// Streams returns the names of the streams that have a folder.
func (s Store) Streams() (names []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// A blockFile is one file of messages of a stream.
type blockFile struct {
	stream string
	number int
	name   string // below the folder of the streams
	size   int64
}

// blocks returns the files of the streams that are read, in order, and their bytes.
func (s Store) blocks() (files []blockFile, size int64, err error) {
	names, err := filepath.Glob(filepath.Join(s.Dir, "*", "msgs", "*.blk"))
	if err != nil {
		return nil, 0, err
	}
	sizes := make(map[string]int64) // of streams
	for _, name := range names {
		number, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".blk"))
		if err != nil {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, 0, err
		}
		below, err := filepath.Rel(s.Dir, name)
		if err != nil {
			return nil, 0, err
		}
		f := blockFile{stream: filepath.Base(filepath.Dir(filepath.Dir(name))), number: number, name: below, size: info.Size()}
		files = append(files, f)
		sizes[f.stream] += f.size
	}
	if s.Reads != nil {
		files = slices.DeleteFunc(files, func(f blockFile) bool { return !s.Reads(f.stream, sizes[f.stream]) })
	}
	for _, f := range files {
		size += f.size
	}
	slices.SortFunc(files, func(a, b blockFile) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.number, b.number))
	})
	return files, size, nil
}

// A Report is what reading a store has shown.
type Report struct {
	Losses  []Loss
	Streams map[string]Extent
}

// An Extent says which messages of a stream can be read.
type Extent struct {
	First, Last uint64
}

// Read reads every message of all streams. In a contiguous stream, messages that are
// missing between two blocks are lost as well. read is called with the bytes that were
// read so far, one call at a time.
func (s Store) Read(contiguous func(stream string) bool, read func(done, total int64)) (Report, error) {
	r := Report{Streams: make(map[string]Extent)}
	files, total, err := s.blocks()
	if err != nil {
		return r, err
	}
	found := make([]findings, len(files))
	var group errgroup.Group
	var mu sync.Mutex
	done, spaces := int64(0), sync.Pool{New: func() any { return new(bytes.Buffer) }}
	group.SetLimit(runtime.GOMAXPROCS(0)) // the checksums take most of the time
	for i, f := range files {
		group.Go(func() (err error) {
			space := spaces.Get().(*bytes.Buffer)
			defer spaces.Put(space)
			if found[i], err = s.readBlock(f, space); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done += f.size
			read(done, total)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	for i, f := range files {
		r.add(f, contiguous(f.stream), found[i])
	}
	return r, nil
}

// findings are what one block has shown.
type findings struct {
	Extent

	losses []Loss
}

// add adds what was found in the next block of a stream.
func (r *Report) add(f blockFile, contiguous bool, block findings) {
	before := r.Streams[f.stream]
	if n := len(r.Losses); n > 0 && r.Losses[n-1].Stream == f.stream && r.Losses[n-1].open() {
		if block.First > 0 { // the loss ends where this block begins
			r.Losses[n-1].Last = block.First - 1
		}
	} else if contiguous && before.Last > 0 && block.First > before.Last+1 {
		r.Losses = append(r.Losses, Loss{Stream: f.stream, File: f.name, First: before.Last + 1, Last: block.First - 1, Problem: "messages before this block are missing"})
	}
	for _, l := range block.losses {
		if l.First == 0 && before.Last > 0 {
			l.First = before.Last + 1
		}
		r.Losses = append(r.Losses, l)
	}
	if before.First == 0 {
		before.First = block.First
	}
	before.Last = max(before.Last, block.Last)
	r.Streams[f.stream] = before
}

// open reports whether the end of a loss is not known yet.
func (l Loss) open() bool { return l.First > 0 && l.Last == 0 }

// readBlock returns what a block has lost, and which messages can be read. The space
// is reused.
func (s Store) readBlock(f blockFile, space *bytes.Buffer) (found findings, err error) {
	file, err := os.Open(filepath.Join(s.Dir, f.name))
	if err != nil {
		return found, err
	}
	defer file.Close()
	space.Reset()
	space.Grow(int(f.size) + bytes.MinRead)
	if _, err := space.ReadFrom(file); err != nil {
		return found, err
	}
	b, err := newBlock(f.stream, f.number, space.Bytes())
	if err != nil {
		return found, err
	}
	holes, _, first, last := b.holes()
	found.Extent = Extent{first, last}
	for _, h := range holes {
		l := Loss{Stream: f.stream, File: f.name, Problem: fmt.Sprintf("%d bytes can't be read", h.to-h.from)}
		if h.after > 0 {
			l.First = h.after + 1
		}
		if h.next > 0 {
			l.Last = h.next - 1
		}
		found.losses = append(found.losses, l)
	}
	return found, nil
}
