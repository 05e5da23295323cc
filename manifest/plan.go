// Package manifest keeps what a server is configured with as files: webhooks,
// pipelines, roles and clients, each in a file named after it. It writes such
// files, compares them with a server, and makes the server as they say.
//
// Files never have tokens or the values of secrets. Tokens can be kept in a file elsewhere. Calls,
// users and built-in roles
// are not configured in this way, and are left alone.
package manifest

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"sluice/client"
)

// What a change does.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
)

// A Change is a thing in which the server differs from the files.
type Change struct {
	Action   string `json:"action"`
	Resource string `json:"kind"`
	Name     string `json:"name"`
	Before   any    `json:"before,omitempty"` // fields, or the source of a pipeline
	After    any    `json:"after,omitempty"`

	WebhookURL string `json:"webhookUrl,omitempty"` // of a webhook that was created
	Secret     string `json:"secret,omitempty"`     // of a client that was created: it is not shown again

	Warnings []string `json:"warnings,omitempty"` // of the server, each with its position

	Tokens int `json:"tokens,omitempty"` // of the webhook that are opened or closed

	before, after *thing
	unknown       string  // the warning that nothing sends what a pipeline listens to
	listens       string  // that event key
	uuid          string  // of a new webhook; "" if the server makes one
	further       []token // that the webhook gets
	closes        bool    // the uuid, as it was elsewhere
}

// Sources returns the content of the file before and after a change.
func (ch *Change) Sources() (before, after string) { return ch.before.source(), ch.after.source() }

// A Name names a thing.
type Name struct {
	Resource string `json:"kind"`
	Name     string `json:"name"`
}

// A Plan has the changes that make a server as the files say.
type Plan struct {
	Changes []*Change `json:"changes"`
	Left    []Name    `json:"left,omitempty"` // in no file, and left alone

	server *client.Client
	force  bool
	tokens Tokens
	owners map[string]string // names of webhooks, by their tokens
	sent   []string          // keys of the events that its pipelines send
}

// Options say how a plan is made.
type Options struct {
	Prune bool // delete what is in no file
	Force bool // store pipelines although steps would be refused when they run

	Tokens Tokens // of webhooks; others get new ones
}

// Compare makes the plan for a folder. Resources without a folder in it are left
// alone. The plan is checked: the server accepts it before anything changes. Otherwise the error
// joins all refusals.
func Compare(ctx context.Context, c *client.Client, dir string, o Options) (*Plan, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, mistake("%v", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	all := resources(c)
	if err := misplaced(root, all); err != nil {
		return nil, err
	}
	plan := &Plan{
		Changes: []*Change{}, server: c, force: o.Force, tokens: o.Tokens, owners: make(map[string]string),
	}
	var deletions []*Change
	found := false
	for _, r := range all {
		files, ok, err := readFolder(root, r)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		found = true
		superfluous, err := plan.compareResource(ctx, r, files)
		if err != nil {
			return nil, err
		}
		if superfluous, err = keepOneself(ctx, r, superfluous, o.Prune); err != nil {
			return nil, err
		}
		for _, t := range superfluous {
			if o.Prune {
				deletions = append(deletions, &Change{
					Action: Delete, Resource: r.Name, Name: t.name, Before: t.document(), before: t,
				})
			} else {
				plan.Left = append(plan.Left, Name{r.Name, t.name})
			}
		}
	}
	if !found {
		return nil, mistake("%s has none of the folders webhooks, pipelines, roles and clients; sluice export %s "+
			"makes them.", dir, dir)
	}
	slices.Reverse(deletions)
	plan.Changes = append(plan.Changes, deletions...)
	return plan, plan.check(ctx)
}

// compareResource adds the things of a resource to create and to update, and returns
// those that are in no file.
func (p *Plan) compareResource(
	ctx context.Context, r *resource, files map[string]*thing,
) (superfluous []*thing, err error) {
	there, err := r.stored(ctx)
	if err != nil {
		return nil, err
	}
	p.noteOwners(there)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		after, before := files[name], there[name]
		delete(there, name)
		if !r.isText() {
			after.fields = r.normal(after.fields)
		}
		change := &Change{
			Action: Create, Resource: r.Name, Name: name, Before: before.document(), After: after.document(),
			before: before, after: after,
		}
		if kept, has := p.tokens[name]; has && r.Name == "webhook" {
			change.uuid, change.further, change.closes = kept.UUID, kept.missing(before,
				time.Now()), kept.closes(before)
			change.Tokens = len(change.further)
			if before == nil || change.closes {
				change.Tokens++
			}
		}
		if before != nil {
			if after.keepSecret(before); after.source() == before.source() && change.Tokens == 0 {
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

// noteOwners notes whose the tokens of webhooks are, as far as the user may see them.
func (p *Plan) noteOwners(there map[string]*thing) {
	for name, t := range there {
		for token := range t.open {
			if p.owners != nil && token != "" {
				p.owners[token] = name
			}
		}
	}
}

// keepSecret keeps the signing secret of a webhook if the file names none and the
// webhook still has a sender.
func (t *thing) keepSecret(before *thing) {
	name, has := before.fields[signingSecret]
	if has && t.fields[signingSecret] == nil && (t.fields["provider"] != nil || t.fields["signature"] != nil) {
		t.fields[signingSecret] = name
	}
}

// keepOneself keeps the plan from deleting the client that carries it out.
func keepOneself(ctx context.Context, r *resource, things []*thing, prune bool) ([]*thing, error) {
	if r.Name != "client" || len(things) == 0 || !prune {
		return things, nil
	}
	var me struct {
		Username string `json:"username"`
	}
	if err := r.server.Decode(ctx, "iam.whoami", nil, nil, &me); err != nil {
		return nil, err
	}
	id, isClient := strings.CutPrefix(me.Username, "client:")
	return slices.DeleteFunc(things, func(t *thing) bool { return isClient && t.name == id }), nil
}
