package jetstream

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// syncFile makes what was written to a file, or the names in a folder, survive
// a power cut.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncTree syncs every file and folder below root. Files that vanish while it
// walks need no sync.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.IsDir() || d.Type().IsRegular()) {
			err = syncFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
