package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sluice/limit"
)

var endings = []string{".yaml", ".yml", ".json"}

// NameOf returns the name of the thing in a file, which is the name of the file without
// its ending. Files with other endings keep their name.
func NameOf(file string) string {
	base := filepath.Base(file)
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return name
		}
	}
	return base
}

// readFolder returns the things in the folder of a resource, by name. ok tells whether
// there is one.
func readFolder(dir *os.Root, r *resource) (things map[string]*thing, ok bool, err error) {
	// Opening a pipe, for one, could take for ever.
	switch info, err := dir.Stat(r.folder()); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, unreadable(err)
	case !info.IsDir():
		return nil, true, mistake("%s is not a folder; move it away.", r.folder())
	}
	entries, err := fs.ReadDir(dir.FS(), r.folder())
	if err != nil {
		return nil, false, unreadable(err)
	}
	things = make(map[string]*thing)
	for _, entry := range entries {
		file := path.Join(r.folder(), entry.Name())
		name := NameOf(file)
		if entry.IsDir() || strings.HasPrefix(name, ".") || name == entry.Name() {
			continue
		}
		if other := things[name]; other != nil {
			return nil, true, mistake("%s and %s are both the %s %s; delete one.", other.file, file, r.Name, name)
		}
		if things[name], err = readThing(dir, r, name, file); err != nil {
			return nil, true, err
		}
	}
	return things, true, nil
}

// maxFile bounds a file; servers take less.
const maxFile = 1 << 20

// readThing reads a file. It leaves the fields as they are.
func readThing(dir *os.Root, r *resource, name, file string) (*thing, error) {
	switch info, err := dir.Stat(file); {
	case err != nil:
		return nil, unreadable(err)
	case !info.Mode().IsRegular():
		return nil, mistake("%s is not a file; move it away.", file)
	}
	opened, err := dir.Open(file)
	if err != nil {
		return nil, unreadable(err)
	}
	defer opened.Close()
	content, err := limit.ReadAll(opened, maxFile)
	switch {
	case errors.Is(err, limit.ErrTooLong):
		return nil, mistake("%s is larger than 1 MiB.", file)
	case err != nil:
		return nil, unreadable(err)
	}
	t := &thing{resource: r, name: name, file: file, text: string(content)}
	if r.isText() {
		return t, nil
	}
	if err := t.decode(); err != nil {
		return nil, err
	}
	return t, t.check()
}

func unreadable(err error) error { return fmt.Errorf("the files can't be read: %w", err) }
