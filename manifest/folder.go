package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/client"
	"sluice/limit"
	"sluice/spelling"
	"sluice/yamltext"
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

// checkPlace refuses a file that looks like a thing by its ending, but stands in none of the
// folders. JSON elsewhere is fine: other programs have such files, too.
func checkPlace(file string, folders []string) error {
	ending := strings.ToLower(path.Ext(file))
	folder, inner, nested := strings.Cut(file, "/")
	known := nested && slices.Contains(folders, folder)
	all := strings.Join(folders, ", ")
	switch near := spelling.Nearest(folder, folders); {
	case !slices.Contains(endings, ending) || !known && ending == ".json" && (near == "" || !nested):
		return nil
	case known && strings.Contains(inner, "/"):
		return mistake("%s stands in a folder within %s, where no file is looked for; move it to %s.", file, folder,
			path.Join(folder, path.Base(file)))
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
		return nil, sluice.Errorf(sluice.CodeForbidden, "You may read none of the webhooks, pipelines, roles and "+
			"clients; ask an administrator for a role that may.")
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

// decode reads the fields of a thing and their positions from its file. Dates are
// text, as in JSON.
func (t *thing) decode() error {
	root, second, err := yamltext.One(t.text)
	switch {
	case err != nil:
		return t.syntaxMistake(err)
	case second != nil:
		return mistake("%s: a second document starts here; a file has one.", t.at(second))
	case root == nil || root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil // all fields are unset
	case root.Kind != yaml.MappingNode:
		return mistake("%s: a %s is written as lines of the form name: value, and this is %s; there can be %s.",
			t.at(root), t.resource.Name, shapeOf(root), strings.Join(t.resource.fieldNames(), ", "))
	}
	if err := t.likeJSON(root); err != nil {
		return err
	}
	t.root = root
	if err := root.Decode(&t.fields); err != nil {
		return t.syntaxMistake(err)
	}
	return nil
}

func shapeOf(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a single value"
}

// likeJSON refuses what JSON can't express, and turns dates into text.
func (t *thing) likeJSON(n *yaml.Node) error {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	if n.Tag == "!!float" && strings.ContainsAny(n.Value, "nN") {
		return mistake("%s: %s is no number; put it in quotes if it is text.", t.at(n), n.Value)
	}
	seen := make(map[string]bool)
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			switch {
			case inner.ShortTag() != "!!str" && inner.ShortTag() != "!!merge":
				return mistake("%s: a name must be text; put it in quotes.", t.at(inner))
			case seen[inner.Value]:
				return mistake("%s: %s stands here twice; leave one out.", t.at(inner), inner.Value)
			}
			seen[inner.Value] = true
		}
		if err := t.likeJSON(inner); err != nil {
			return err
		}
	}
	return nil
}

// syntaxMistake returns an error of the YAML reader with its position.
func (t *thing) syntaxMistake(err error) error {
	line, column, message := yamltext.Mistake(t.text, err)
	return mistake("%s:%d:%d: this is not YAML: %s.", t.file, line, column, message)
}

// at returns the position of a node in the file of a thing: FILE:LINE:COLUMN.
func (t *thing) at(n *yaml.Node) string {
	if n == nil {
		return t.file
	}
	return fmt.Sprintf("%s:%d:%d", t.file, n.Line, n.Column)
}

// field returns the nodes of a field, nil if the file does not have it.
func (t *thing) field(name string) (key, value *yaml.Node) {
	if t.root == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(t.root.Content); i += 2 {
		if t.root.Content[i].Value == name {
			return t.root.Content[i], t.root.Content[i+1]
		}
	}
	return nil, nil
}

// position returns where in the file a server's message refers to: the item of a list
// that it names, otherwise the field of the parameter.
func (t *thing) position(parameter, message string) string {
	for _, name := range t.resource.fieldNames() {
		_, value := t.field(name)
		if value == nil || value.Kind != yaml.SequenceNode || parameter != "" && parameter != name {
			continue
		}
		for _, item := range value.Content {
			if strings.Contains(message, strconv.Quote(item.Value)) || strings.Contains(message, " "+item.Value+" ") {
				return t.at(item)
			}
		}
	}
	_, value := t.field(parameter)
	return t.at(value)
}
