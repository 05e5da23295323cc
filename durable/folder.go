// Package durable makes files survive a power cut: the data folder with its lock
// and its format, files that are written as a whole or not at all, and the
// message blocks of the embedded engine, whose syncs many writers share.
//
// It imports none of our packages, and knows files but not what is in them.
// Package jetstream decides what is synced when, and stops for good when a sync
// fails.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Format is the version of what servers store, in the data folder or on an external
// engine. It changes when a program that knows only the previous format can't read
// the new one. In this one records are sealed.
const Format = 2

const (
	formatFile = "format"
	restoring  = "restoring" // what is in it while a folder is restored
)

// Space is what is free on a volume.
type Space struct {
	Bytes int64
	Files int64 // that can still be made: inodes
}

// A Folder is the data folder, locked for one server.
type Folder struct {
	path string
	lock *os.File
}

// OpenFolder makes the data folder where it is missing, locks it, and checks
// that this program can read it. It fails on a system where files can't be made
// durable.
func OpenFolder(path string) (*Folder, error) {
	if err := checkSystem(); err != nil {
		return nil, err
	}
	if err := MakeFolder(path); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	f, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	if err := f.checkFormat(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func lockFolder(path string) (*Folder, error) {
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	f := &Folder{path: path, lock: lock}
	if err := TryLock(lock); err != nil {
		f.Close()
		return nil, fmt.Errorf("data folder %s is in use by another server; stop that one or choose another folder "+
			"with --data", path)
	}
	return f, nil
}

// store is the name of the engine's folder in the data folder.
const store = "engine"

// StoreIn returns the path of the folder in a data folder that the embedded engine keeps its store in.
func StoreIn(folder string) string { return filepath.Join(folder, store) }

// Store is StoreIn for this folder.
func (f *Folder) Store() string { return StoreIn(f.path) }

// OpenExisting opens a data folder that a server has made.
func OpenExisting(path string) (*Folder, error) {
	_, noFormat := os.Stat(filepath.Join(path, formatFile))
	if _, err := os.Stat(StoreIn(path)); err != nil && noFormat != nil {
		return nil, fmt.Errorf("%s is no data folder; name the one that the server was started with (--data)", path)
	}
	return OpenFolder(path)
}

// checkFormat writes the format into a new folder, and refuses a folder of any
// other format.
func (f *Folder) checkFormat() error {
	_, noFormat := os.Stat(f.Path(formatFile))
	if _, err := os.Stat(f.Store()); err == nil && errors.Is(noFormat, fs.ErrNotExist) {
		return fmt.Errorf("data folder %s has lost the file that says its format; write %d into its file \"format\" "+
			"if a server of this version has made it", f.path, Format)
	}
	found, err := f.Content(formatFile, func() string { return strconv.Itoa(Format) })
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(found)
	switch {
	case found == restoring:
		return fmt.Errorf("a restore to data folder %s was interrupted: empty the folder and restore again", f.path)
	case err == nil && number > Format:
		return fmt.Errorf("data folder %s has format %d, this program knows %d: a newer version of sluice wrote it; "+
			"start that version, or restore a backup from before the upgrade to another folder", f.path, number, Format)
	case found == "1":
		return fmt.Errorf("data folder %s has format 1, of version 0.1, which this program can't read: choose "+
			"another folder with --data. Nothing was changed", f.path)
	case err != nil || number < Format:
		return fmt.Errorf("data folder %s has format %q, which no version of sluice has written: it is damaged, or "+
			"no data folder", f.path, found)
	}
	return nil
}

// Content returns the line in a file of the folder. If the file is missing, Content
// makes it durably with what first returns; if first is nil, it returns "".
func (f *Folder) Content(name string, first func() string) (string, error) {
	file := f.Path(name)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if first == nil {
			return "", nil
		}
		content = []byte(first() + "\n")
		err = WriteFile(file, content)
	}
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// Path returns the path of a name in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Close releases the lock.
func (f *Folder) Close() { Unlock(f.lock) }

// A NewFolder is a data folder that is being filled. Until Finish no server starts
// on it.
type NewFolder struct {
	*Folder

	existed bool
}

// CreateFolder makes a data folder to be filled. The folder may exist, but must be
// empty.
func CreateFolder(path string) (*NewFolder, error) {
	if err := checkSystem(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s has something in it (%s); choose a folder that is empty, or not there", path,
			entries[0].Name())
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
	return WriteFile(f.Path(formatFile), []byte(strconv.Itoa(Format)+"\n"))
}

// Abandon empties the folder, and removes it unless it existed before.
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
