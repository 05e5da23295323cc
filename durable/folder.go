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
// engine. It changes when a program that knows only the former one could no longer
// read it. This one: records are sealed.
const Format = 2

const (
	formatFile = "format"

	earlier   = 1           // records are in clear, or being sealed
	restoring = "restoring" // a restore has begun
)

// A Folder is the data folder, locked for one server.
type Folder struct {
	path string
	lock *os.File
}

// OpenFolder makes the data folder where it is missing, locks it, and checks
// that this program can read it. On a system where files can't be made durable it
// refuses.
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

// lockFolder locks a folder that is there.
func lockFolder(path string) (*Folder, error) {
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	f := &Folder{path: path, lock: lock}
	if err := TryLock(lock); err != nil {
		f.Close()
		return nil, fmt.Errorf("data folder %s is in use by another server; stop that one or choose another folder with --data", path)
	}
	return f, nil
}

// store is the name of the folder's folder for the engine.
const store = "engine"

// Store returns the path of the folder that the embedded engine keeps its store in.
func (f *Folder) Store() string { return f.Path(store) }

// OpenExisting opens a data folder that a server has made.
func OpenExisting(path string) (*Folder, error) {
	_, noFormat := os.Stat(filepath.Join(path, formatFile))
	if _, err := os.Stat(filepath.Join(path, store)); err != nil && noFormat != nil {
		return nil, fmt.Errorf("%s is no data folder; name the one that the server was started with (--data)", path)
	}
	return OpenFolder(path)
}

// checkFormat writes the format into a new folder, and refuses a folder of any
// format but that and the one before, which Convert ends.
func (f *Folder) checkFormat() error {
	_, noFormat := os.Stat(f.Path(formatFile))
	if _, err := os.Stat(f.Store()); err == nil && errors.Is(noFormat, fs.ErrNotExist) {
		return fmt.Errorf("data folder %s has lost the file that says its format; write %d into its file \"format\" if a server of this version has made it", f.path, Format)
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
		return fmt.Errorf("data folder %s has format %d, this program knows %d: a newer version of sluice wrote it; start that version, or restore a backup from before the upgrade to another folder", f.path, number, Format)
	case err != nil || number < earlier:
		return fmt.Errorf("data folder %s has format %q, which no version of sluice has written: it is damaged, or no data folder", f.path, found)
	}
	return nil
}

// Convert says that from now on programs of an earlier format can't read the
// folder any more.
func (f *Folder) Convert() error {
	return WriteFile(f.Path(formatFile), []byte(strconv.Itoa(Format)+"\n"))
}

// Content returns the line in a file of the folder. The first time it makes the
// file, which then survives a power cut; with a nil first it returns "" instead.
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
func (f *Folder) Close() { _ = f.lock.Close() }
