package durable

import (
	"errors"
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

// WriteFile writes a file that is there after a power cut as a whole or not at
// all: a draft is synced before it is renamed. The draft is always a new file: one that
// somebody else has put there could be theirs to read, or lead elsewhere.
func WriteFile(name, content string) error {
	draft := name + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft, name); err != nil {
		return err
	}
	return Sync(filepath.Dir(name))
}

// Probe reports whether a folder, which it makes where it is missing, can be written
// to so that what was written survives a power cut.
func Probe(folder string) error {
	if err := makeFolder(folder); err != nil {
		return err
	}
	name := filepath.Join(folder, "probe")
	if err := WriteFile(name, "x"); err != nil {
		return err
	}
	return os.Remove(name)
}

// makeFolder makes a folder and those above it, so that they survive a power cut.
func makeFolder(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if err := makeFolder(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return Sync(parent)
}
