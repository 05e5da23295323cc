package damage

import (
	"bytes"
	"cmp"
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
func (r *Report) add(f blockFile, contiguous bool, losses []Loss, can Extent) {
	before := r.Streams[f.stream]
	if n := len(r.Losses); n > 0 && r.Losses[n-1].Stream == f.stream && r.Losses[n-1].open() {
		if can.First > 0 { // the loss ends where this block begins
			r.Losses[n-1].Last = can.First - 1
		}
	} else if contiguous && before.Last > 0 && can.First > before.Last+1 {
		r.Losses = append(r.Losses, Loss{
			Stream: f.stream, File: f.name, First: before.Last + 1, Last: can.First - 1,
			Problem: "messages before this block are missing",
		})
	}
	for _, l := range losses {
		l.Stream, l.File = f.stream, f.name
		if l.First == 0 && before.Last > 0 {
			l.First = before.Last + 1
		}
		r.Losses = append(r.Losses, l)
	}
	r.Streams[f.stream] = Extent{cmp.Or(before.First, can.First), max(before.Last, can.Last)}
}

// An Extent says which messages of a stream can be read.
type Extent struct {
	First, Last uint64
}

// Read reads every message of all streams.
func (s Store) Read() (Report, error) {
	r := Report{Streams: make(map[string]Extent)}
	files, total, err := s.blocks()
	if err != nil {
		return r, err
	}
	losses, can := make([][]Loss, len(files)), make([]Extent, len(files))
	var group errgroup.Group
	var mu sync.Mutex
	done, spaces := int64(0), sync.Pool{New: func() any { return new(bytes.Buffer) }}
	group.SetLimit(runtime.GOMAXPROCS(0)) // the checksums take most of the time
	for i, f := range files {
		group.Go(func() (err error) {
			space := spaces.Get().(*bytes.Buffer)
			defer spaces.Put(space)
			if losses[i], can[i], err = s.readBlock(f, space); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done += f.size; s.Progress != nil {
				s.Progress(done, total)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	for i, f := range files {
		r.add(f, s.Contiguous == nil || s.Contiguous(f.stream), losses[i], can[i])
	}
	if s.Cuts {
		err = s.finishRemovals()
	}
	return r, err
}

// readBlock returns what a block has lost, and which messages can be read. The space
// is reused.
func (s Store) readBlock(f blockFile, space *bytes.Buffer) (losses []Loss, can Extent, err error) {
	b, err := s.load(f, space)
	if err != nil {
		return nil, can, err
	}
	if losses, can = b.losses(); s.Cuts && len(losses) > 0 {
		err = s.cut(f, b)
	}
	return losses, can, err
}

func (s Store) load(f blockFile, space *bytes.Buffer) (*block, error) {
	file, err := os.Open(filepath.Join(s.Dir, f.name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	space.Reset()
	space.Grow(int(f.size) + bytes.MinRead)
	if _, err := space.ReadFrom(file); err != nil {
		return nil, err
	}
	return newBlock(f.stream, f.number, space.Bytes())
}
