package manifest

import (
	"context"
	"fmt"
	"os"
	"slices"

	"sluice"
	"sluice/client"
)

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
	all := resources(c)
	for _, r := range all {
		err := done.export(ctx, root, r)
		switch e := sluice.AsError(err); {
		case err == nil:
		case e.Kind == sluice.Forbidden || e.Code == string(sluice.CodeExternalUsers):
			done.Skipped = append(done.Skipped, r.folder())
		default:
			return nil, err
		}
	}
	if len(done.Skipped) == len(all) {
		return nil, sluice.CodeForbidden.Errorf("You may read none of the webhooks, pipelines, roles and " +
			"clients; ask an administrator for a role that may.")
	}
	return done, nil
}

func (e *Exported) export(ctx context.Context, root *os.Root, r *resource) error {
	files, _, err := readFolder(root, r)
	if err != nil {
		return err
	}
	before := &Plan{}
	there, err := before.compareResource(ctx, r, files)
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
