package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// format is the version of the data folder's layout. It changes when a program
// that knows the layout before could not read the folder any more.
const format = "1"

// A Folder is the data folder, locked for one server.
type Folder struct {
	path string
	lock *os.File
}

// OpenFolder makes the data folder where it is missing, locks it, and checks
// that this program can read it.
func OpenFolder(path string) (*Folder, error) {
	if err := makeFolder(path); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	f := &Folder{path: path, lock: lock}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("data folder %s is in use by another server; stop that one or choose another folder with --data", path)
	}
	if err := f.checkFormat(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// store is the name of the folder's folder for the engine.
const store = "engine"

// Store gives the path of the folder that the embedded engine keeps its store in.
func (f *Folder) Store() string { return f.Path(store) }

// OpenExisting opens a data folder that must be there.
func OpenExisting(path string) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(path, store)); err != nil {
		return nil, fmt.Errorf("%s is no data folder of a server", path)
	}
	return OpenFolder(path)
}

// checkFormat writes the format into a new folder, and refuses a folder of any
// other format, older or newer: there is no conversion between formats.
func (f *Folder) checkFormat() error {
	_, noFormat := os.Stat(f.Path("format"))
	if _, err := os.Stat(f.Store()); err == nil && errors.Is(noFormat, fs.ErrNotExist) {
		return fmt.Errorf("data folder %s has lost the file that says its format; write %s into its file \"format\" if a server of this version has made it", f.path, format)
	}
	found, err := f.Content("format", func() string { return format })
	if err != nil {
		return err
	}
	if found != format {
		return fmt.Errorf("data folder %s has format %q, this program knows only %q; an older or a newer version wrote it: use that one, or another folder", f.path, found, format)
	}
	return nil
}

// Content gives the line that a file of the folder has in it. The first time it
// makes the file, which then survives a power cut.
func (f *Folder) Content(name string, first func() string) (string, error) {
	file := f.Path(name)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		content = []byte(first() + "\n")
		err = WriteFile(file, string(content))
	}
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// Path gives the path of a name in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Close gives the lock back.
func (f *Folder) Close() { _ = f.lock.Close() }
