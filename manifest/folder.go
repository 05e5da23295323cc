package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/spelling"
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
	content, err := io.ReadAll(io.LimitReader(opened, maxFile+1))
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(content) > maxFile:
		return nil, mistake("%s is larger than 1 MiB.", file)
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

func (t *thing) write(dir *os.Root) error {
	text := t.source()
	if t.secrets {
		text = "# Its secrets are kept by the server and not written here. To store it at another one, put the\n" +
			"# signing secret there with sluice secret put NAME, and add: signingSecret: secret:NAME\n" + text
	}
	err := dir.MkdirAll(t.resource.folder(), 0o750)
	if err == nil {
		err = dir.WriteFile(t.file, []byte(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("the files can't be written: %w", err)
	}
	return nil
}

func unreadable(err error) error { return fmt.Errorf("the files can't be read: %w", err) }

// misplaced refuses files that look like things but stand in the wrong folder: they
// would be ignored without a word. Hidden files and folders, and files with other
// endings, are not ours.
func misplaced(dir *os.Root) error {
	all := resources()
	folders := make([]string, len(all))
	for i, r := range all {
		folders[i] = r.folder()
	}
	return fs.WalkDir(dir.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(err)
		}
		switch hidden := strings.HasPrefix(entry.Name(), ".") && file != "."; {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		}
		return checkPlace(file, folders)
	})
}

// checkPlace refuses a file whose ending is that of a thing, and that stands in none
// of the folders. JSON elsewhere is fine: other programs have such files, too.
func checkPlace(file string, folders []string) error {
	ending := strings.ToLower(path.Ext(file))
	folder, inner, nested := strings.Cut(file, "/")
	known := nested && slices.Contains(folders, folder)
	all := strings.Join(folders, ", ")
	switch near := spelling.Nearest(folder, folders); {
	case !slices.Contains(endings, ending) || !known && ending == ".json" && (near == "" || !nested):
		return nil
	case known && strings.Contains(inner, "/"):
		return mistake("%s stands in a folder within %s, where no file is looked for; move it to %s.", file, folder, path.Join(folder, path.Base(file)))
	case known && ending != path.Ext(file):
		return mistake("%s: write the ending in lower case, %s; otherwise the file is not looked at.", file, ending)
	case known:
		return nil
	case !nested:
		return mistake("%s stands in none of the folders %s; move it to the one that it is for.", file, all)
	case near != "":
		return mistake("%s: there is no folder %s; did you mean %s?", file, folder, near)
	}
	return mistake("%s stands in none of the folders %s; move it to one of them, or out of here.", file, all)
}

// An Exported is what an export did.
type Exported struct {
	Written   []string `json:"written"`           // files
	Unchanged int      `json:"unchanged"`         // files that already say what the server has
	Stale     []string `json:"stale,omitempty"`   // files of things that the server does not have
	Skipped   []string `json:"skipped,omitempty"` // folders that the user may not read
}

// Export writes what a server is configured with to a folder. Files that say the same
// in other words stay as they are, and no file is deleted.
func Export(ctx context.Context, c *client.Client, dir string) (*Exported, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, mistake("%v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, mistake("%v", err)
	}
	defer func() { _ = root.Close() }() // the written files are closed already
	done := &Exported{Written: []string{}}
	for _, r := range resources() {
		err := done.export(ctx, c, root, r)
		switch e := sluice.AsError(err); {
		case err == nil:
		case e.Kind == sluice.Forbidden || e.Code == sluice.CodeExternalUsers.Word:
			done.Skipped = append(done.Skipped, r.folder())
		default:
			return nil, err
		}
	}
	if len(done.Skipped) == len(resources()) {
		return nil, sluice.Errorf(sluice.CodeForbidden, "You may read none of the webhooks, pipelines, roles and clients; ask an administrator for a role that may.")
	}
	return done, nil
}

func (e *Exported) export(ctx context.Context, c *client.Client, root *os.Root, r *resource) error {
	files, _, err := readFolder(root, r)
	if err != nil {
		return err
	}
	before := &Plan{}
	there, err := before.compareResource(ctx, c, r, files)
	if err != nil {
		return err
	}
	for _, change := range before.Changes {
		if change.Action == Create {
			e.Stale = append(e.Stale, change.after.file)
			continue
		}
		change.before.file = change.after.file
		there = append(there, change.before)
	}
	e.Unchanged += len(files) - len(before.Changes)
	for _, t := range there {
		if t.file == "" {
			t.file = r.folder() + "/" + t.name + endings[0]
		}
		if err := t.write(root); err != nil {
			return err
		}
		e.Written = append(e.Written, t.file)
	}
	slices.Sort(e.Written)
	return nil
}
