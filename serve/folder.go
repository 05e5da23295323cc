package serve

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// format is the version of the data folder's layout. It grows when an older
// program could not read the folder any more.
const format = "1"

// A folder is the data folder, locked for one server.
type folder struct {
	path string
	lock *os.File
}

// openFolder makes the data folder where it is missing, locks it, and checks
// that this program can read it.
func openFolder(path string) (*folder, error) {
	if err := checkSystem(); err != nil {
		return nil, err
	}
	if err := makeFolder(path); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	f := &folder{path: path, lock: lock}
	if err := lockFile(lock); err != nil {
		f.close()
		return nil, fmt.Errorf("data folder %s is in use by another server; stop that one or choose another folder with --data", path)
	}
	if err := f.checkFormat(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// checkFormat refuses a folder that a newer program has written.
func (f *folder) checkFormat() error {
	name := filepath.Join(f.path, "format")
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = writeDurably(name, format+"\n")
	}
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if found := strings.TrimSpace(string(content)); content != nil && found != format {
		return fmt.Errorf("data folder %s has format %q, this program knows %q; use the version that wrote it, or a newer one", f.path, found, format)
	}
	return nil
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
	return syncPath(parent)
}

// writeDurably writes a file that after a power cut is there as a whole or not
// at all.
func writeDurably(name, content string) error {
	draft := name + ".new"
	if err := os.WriteFile(draft, []byte(content), 0o600); err != nil {
		return err
	}
	if err := syncPath(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, name); err != nil {
		return err
	}
	return syncPath(filepath.Dir(name))
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// secretKey gives the key that is kept in the folder, and makes it the first
// time.
func (f *folder) secretKey() (string, error) {
	name := filepath.Join(f.path, "secret.key")
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		content = []byte(base64.StdEncoding.EncodeToString(key) + "\n")
		err = writeDurably(name, string(content))
	}
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return string(content), nil
}

// engine is the folder of the engine's store.
func (f *folder) engine() string { return filepath.Join(f.path, "engine") }

// close gives the lock back.
func (f *folder) close() { _ = f.lock.Close() }
