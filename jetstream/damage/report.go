package damage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// A Report is what reading a store has shown.
type Report struct {
	Losses  []Loss
	Streams map[string]Extent
}

// add adds what was found in the next block of a stream.
func (r *Report) add(f blockFile, contiguous bool, block findings) {
	before := r.Streams[f.stream]
	if n := len(r.Losses); n > 0 && r.Losses[n-1].Stream == f.stream && r.Losses[n-1].open() {
		if block.First > 0 { // the loss ends where this block begins
			r.Losses[n-1].Last = block.First - 1
		}
	} else if contiguous && before.Last > 0 && block.First > before.Last+1 {
		r.Losses = append(r.Losses, Loss{
			Stream: f.stream, File: f.name, First: before.Last + 1, Last: block.First - 1,
			Problem: "messages before this block are missing",
		})
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
