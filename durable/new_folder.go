package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A NewFolder is a data folder that is being filled. Until Finish no server starts
// on it.
type NewFolder struct {
	*Folder

	existed bool
}

// CreateFolder makes a data folder to be filled. The folder may be there, but not
// have anything in it.
func CreateFolder(path string) (*NewFolder, error) {
	if err := checkSystem(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s has something in it (%s); choose a folder that is empty, or not there", path, entries[0].Name())
	}
	f := &NewFolder{existed: err == nil}
	if err := MakeFolder(path); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := WriteFile(filepath.Join(path, formatFile), []byte(restoring+"\n")); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if f.Folder, err = lockFolder(path); err != nil {
		return nil, err
	}
	return f, nil
}

// Finish puts all that is in the folder on stable storage, and makes it a data
// folder like any other.
func (f *NewFolder) Finish() error {
	defer f.Close()
	if err := SyncTree(f.path); err != nil {
		return err
	}
	return f.Convert()
}

// Abandon removes what is in the folder, and the folder if it was not there.
func (f *NewFolder) Abandon() error {
	defer f.Close()
	if !f.existed {
		return os.RemoveAll(f.path)
	}
	entries, err := os.ReadDir(f.path)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(f.Path(e.Name())))
	}
	return err
}
