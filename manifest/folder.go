package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// endings are those of files with things.
var endings = []string{".yaml", ".yml", ".json"}

// nameOf returns the name of the thing in a file.
func nameOf(file string) string {
	base := path.Base(file)
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return name
		}
	}
	return base
}

// readKind returns the things of a kind that files describe, by name. ok tells
// whether there is a folder for them.
func readKind(dir *os.Root, k *kind) (things map[string]*thing, ok bool, err error) {
	// Opening what is neither a folder nor a file, such as a pipe, could last for ever.
	switch info, err := dir.Stat(k.folder()); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, unreadable(err)
	case !info.IsDir():
		return nil, true, mistake("%s is not a folder; move it away.", k.folder())
	}
	entries, err := fs.ReadDir(dir.FS(), k.folder())
	if err != nil {
		return nil, false, unreadable(err)
	}
	things = make(map[string]*thing)
	for _, entry := range entries {
		file := path.Join(k.folder(), entry.Name())
		name := nameOf(file)
		if entry.IsDir() || strings.HasPrefix(name, ".") || name == entry.Name() {
			continue
		}
		if other := things[name]; other != nil {
			return nil, true, mistake("%s and %s are both the %s %s; delete one.", other.file, file, k.Name, name)
		}
		if things[name], err = readThing(dir, k, name, file); err != nil {
			return nil, true, err
		}
	}
	return things, true, nil
}

// maxFile bounds what is read of a file; a server takes less.
const maxFile = 1 << 20

// readThing reads a file. Its fields are as they are given.
func readThing(dir *os.Root, k *kind, name, file string) (*thing, error) {
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
	content, err := io.ReadAll(io.LimitReader(opened, maxFile+1))
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(content) > maxFile:
		return nil, mistake("%s is larger than 1 MiB.", file)
	}
	t := &thing{kind: k, name: name, file: file, text: string(content)}
	if k.isText() {
		return t, nil
	}
	if err := t.decode(); err != nil {
		return nil, err
	}
	return t, t.check()
}

// write writes a thing to its file.
func (t *thing) write(dir *os.Root) error {
	text := t.source()
	if t.secrets {
		text = "# Its secrets are kept by the server and not written here. To store it at another one, put the\n" +
			"# signing secret there with sluice secret put NAME, and add: signingSecret: secret:NAME\n" + text
	}
	if err := dir.MkdirAll(t.kind.folder(), 0o750); err != nil {
		return unwritable(err)
	}
	if err := dir.WriteFile(t.file, []byte(text), 0o600); err != nil {
		return unwritable(err)
	}
	return nil
}

func unreadable(err error) error { return fmt.Errorf("the files can't be read: %w", err) }

func unwritable(err error) error { return fmt.Errorf("the files can't be written: %w", err) }
