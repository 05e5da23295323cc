package durable

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Sync makes what was written to a file, or the names in a folder, survive a
// power cut.
func Sync(path string) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// open opens a file or a folder to read or sync it.
func open(path string) (*os.File, error) {
	return insist(func() (*os.File, error) { return os.Open(path) })
}

// insist opens a file as soon as the process has a descriptor for it. Before a sync
// nothing is lost by waiting, while its failure would be final.
func insist(open func() (*os.File, error)) (*os.File, error) {
	const pause = 10 * time.Millisecond
	for {
		file, err := open()
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			return file, err
		}
		time.Sleep(pause)
	}
}

// SyncTree syncs every file and folder below root, several at a time, so that the
// disk writes them together. Files that vanish meanwhile need no sync.
func SyncTree(root string) error {
	var group errgroup.Group
	group.SetLimit(16)
	present := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.IsDir() || d.Type().IsRegular()) {
			group.Go(func() error { return present(Sync(path)) })
		}
		return present(err)
	})
	return errors.Join(err, group.Wait())
}

// WriteFile writes a file that only its owner can read. After a power cut the file is
// there as a whole or not at all.
func WriteFile(name string, content []byte) error {
	return Write(name, func(file io.Writer) error {
		_, err := file.Write(content)
		return err
	})
}

// Write is WriteFile for what a function writes. A draft is synced before it is renamed.
// The draft is always a new file with a name that nobody can guess: somebody else's file
// could be theirs to read, or a link to elsewhere.
func Write(name string, write func(io.Writer) error) (err error) {
	draft, err := insist(func() (*os.File, error) {
		return os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.new") // with mode 0600
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(draft.Name()) // the first error says more
		}
	}()
	if err := write(draft); err != nil {
		return errors.Join(err, draft.Close())
	}
	if err := errors.Join(draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft.Name(), name); err != nil {
		return err
	}
	return syncNames(filepath.Dir(name))
}

// Probe checks that files can be written durably to a folder, which it makes where it
// is missing.
func Probe(folder string) error {
	if err := MakeFolder(folder); err != nil {
		return err
	}
	name := filepath.Join(folder, "probe")
	if err := WriteFile(name, []byte("x")); err != nil {
		return err
	}
	return os.Remove(name)
}

// MakeFolder durably makes a folder and its missing parents. Only their owner can read
// them.
func MakeFolder(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if err := MakeFolder(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncNames(parent)
}

// A Flusher lets many writers share one sync: each waits for a sync that began
// after its request.
type Flusher struct {
	Sync func() error

	mu   sync.Mutex
	next *flush // that has not begun yet

	syncing sync.Mutex // held during a sync
	failed  error
}

// A flush is one sync that some writers wait for.
type flush struct {
	done chan struct{} // closed when it has ended
	err  error
}

// Flush returns once everything written before the call is on stable storage.
func (f *Flusher) Flush(ctx context.Context) error {
	f.mu.Lock()
	next := f.next
	if next == nil {
		next = &flush{done: make(chan struct{})}
		f.next = next
		go f.run(next)
	}
	f.mu.Unlock()
	select {
	case <-next.done:
		return next.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run makes a flush after the one before it. A failed sync is never tried again: the
// kernel may have dropped what it could not write, and a second try would then
// succeed without it. So every later writer gets the same error.
func (f *Flusher) run(this *flush) {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.mu.Lock()
	f.next = nil // what is written from now on needs another one
	f.mu.Unlock()
	if f.failed == nil {
		f.failed = f.Sync()
	}
	this.err = f.failed
	close(this.done)
}
