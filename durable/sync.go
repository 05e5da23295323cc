package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// Sync makes what was written to a file, or the names in a folder, survive a
// power cut.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// SyncTree syncs every file and folder below root, some at a time, since the disk
// then writes them together. Files that vanish while it walks need no sync.
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

// WriteFile writes a file that only its owner can read, and that is there after a
// power cut as a whole or not at all.
func WriteFile(name string, content []byte) error {
	return Write(name, func(file io.Writer) error {
		_, err := file.Write(content)
		return err
	})
}

// Write is WriteFile for what a function writes. A draft is synced before it is renamed.
// It is always a new file with a name that nobody can foresee: one that somebody else has
// put there could be theirs to read, or lead elsewhere.
func Write(name string, write func(io.Writer) error) (err error) {
	draft, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.new") // with mode 0600
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

// Probe reports whether a folder, which it makes where it is missing, can be written
// to so that what was written survives a power cut.
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

// MakeFolder makes a folder and those above it where they are missing, so that they
// survive a power cut. Only their owner can read them.
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
