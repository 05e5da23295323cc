package manifest

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"sluice/client"
)

// What a change does.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
)

// A Change is one thing that a server has in another form than the files.
type Change struct {
	Action string `json:"action"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Before any    `json:"before,omitempty"` // fields, or the source of a pipeline
	After  any    `json:"after,omitempty"`

	WebhookURL string `json:"webhookUrl,omitempty"` // of a webhook that was created
	Secret     string `json:"secret,omitempty"`     // of a client that was created: it is not shown again

	Warnings []string `json:"warnings,omitempty"` // what the server takes, and should be looked at, with its place

	before, after *thing
}

// Sources returns a thing before and after a change as it stands in files.
func (ch *Change) Sources() (before, after string) { return ch.before.source(), ch.after.source() }

// A Name is that of a thing.
type Name struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// A Plan is what makes a server as files say.
type Plan struct {
	Changes []*Change `json:"changes"`
	Left    []Name    `json:"left,omitempty"` // in no file, and left alone

	force bool
}

// Options say how a plan is made.
type Options struct {
	Prune bool // delete what is in no file
	Force bool // store pipelines although steps would be refused when they run
}

// Compare makes the plan for a folder. Kinds for which it has no folder are left
// alone. What the server would refuse is found before anything is changed.
func Compare(ctx context.Context, c *client.Client, dir string, o Options) (*Plan, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, mistake("%v", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	if err := misplaced(root); err != nil {
		return nil, err
	}
	plan := &Plan{Changes: []*Change{}, force: o.Force}
	var deletions []*Change
	found := false
	for _, k := range kinds() {
		files, ok, err := readKind(root, k)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		found = true
		superfluous, err := plan.compareKind(ctx, c, k, files)
		if err != nil {
			return nil, err
		}
		if superfluous, err = keepOneself(ctx, c, k, superfluous, o.Prune); err != nil {
			return nil, err
		}
		for _, t := range superfluous {
			if o.Prune {
				deletions = append(deletions, &Change{Action: Delete, Kind: k.Name, Name: t.name, Before: t.document(), before: t})
			} else {
				plan.Left = append(plan.Left, Name{k.Name, t.name})
			}
		}
	}
	if !found {
		return nil, mistake("%s has none of the folders webhooks, pipelines, roles and clients; sluice export %s makes them.", dir, dir)
	}
	slices.Reverse(deletions)
	plan.Changes = append(plan.Changes, deletions...)
	return plan, plan.check(ctx, c)
}

// compareKind adds what is to be created and updated of a kind, and gives what
// is in no file.
func (p *Plan) compareKind(ctx context.Context, c *client.Client, k *kind, files map[string]*thing) (superfluous []*thing, err error) {
	var presets map[string]string
	if k.Name == "webhook" {
		if presets, err = presetsOf(ctx, c); err != nil {
			return nil, err
		}
	}
	there, err := k.stored(ctx, c, presets)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		after, before := files[name], there[name]
		delete(there, name)
		if !k.isText() {
			after.fields = k.normal(after.fields, presets)
		}
		change := &Change{Action: Create, Kind: k.Name, Name: name, Before: before.document(), After: after.document(), before: before, after: after}
		if before != nil {
			if after.keepSecret(before); after.source() == before.source() {
				continue
			}
			change.Action = Update
		}
		p.Changes = append(p.Changes, change)
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		superfluous = append(superfluous, there[name])
	}
	return superfluous, nil
}

// keepSecret leaves the signing secret of a webhook alone where the file names
// none and it still has a sender.
func (t *thing) keepSecret(before *thing) {
	name, has := before.fields[signingSecret]
	if has && t.fields[signingSecret] == nil && (t.fields["provider"] != nil || t.fields["signature"] != nil) {
		t.fields[signingSecret] = name
	}
}

// keepOneself leaves out the client that a plan is carried out as.
func keepOneself(ctx context.Context, c *client.Client, k *kind, things []*thing, prune bool) ([]*thing, error) {
	if k.Name != "client" || len(things) == 0 || !prune {
		return things, nil
	}
	answer, err := c.Command(ctx, "iam.whoami", nil, nil)
	if err != nil {
		return nil, err
	}
	var me map[string]any
	if err := decodeJSON(answer.Body, &me); err != nil {
		return nil, malformed(k, err)
	}
	id, isClient := strings.CutPrefix(textOf(me, "username"), "client:")
	return slices.DeleteFunc(things, func(t *thing) bool { return isClient && t.name == id }), nil
}
