package manifest

import (
	"context"
	"fmt"
	"slices"

	"sluice"
	"sluice/client"
)

// Apply carries out a plan, and returns the changes that were made. If one fails, those before
// it are undone, unless one of them is final: then a new plan goes on from there.
func (p *Plan) Apply(ctx context.Context, c *client.Client) (made []*Change, err error) {
	for _, change := range p.Changes {
		if err := change.make(ctx, c, p.force); err != nil {
			if change.Action == Create && change.after.token != "" { // only its tokens failed
				made = append(made, change)
			}
			return p.undo(context.WithoutCancel(ctx), c, made, sluice.AsError(err))
		}
		made = append(made, change)
	}
	return made, nil
}

// undo takes back what was changed before a failure. Roles that were edited come first: with
// what they are now, the rest might be refused.
func (p *Plan) undo(
	ctx context.Context, c *client.Client, made []*Change, failed *sluice.Error,
) (left []*Change, err error) {
	if len(made) == 0 {
		return nil, failed
	}
	if slices.ContainsFunc(made, (*Change).final) {
		return made, failed.Saying(fmt.Sprintf("%s %d of %d changes are made, and can't be undone; apply the files "+
			"again to make the rest.", failed.Message, len(made), len(p.Changes)))
	}
	made = slices.Clone(made)
	slices.Reverse(made)
	slices.SortStableFunc(made, func(a, b *Change) int { return a.undoneIn() - b.undoneIn() })
	for _, change := range made {
		if why := change.unmake(ctx, c); why != nil {
			left = append(left, change)
			failed = failed.Saying(fmt.Sprintf("%s The change before it can't be undone: %s", failed.Message,
				sluice.AsError(why).Message))
		}
	}
	if len(left) == 0 {
		failed = failed.Saying(failed.Message + " What was changed before it is undone: nothing has changed.")
	}
	return left, failed
}

// undoneIn returns the turn in which a change is undone.
func (ch *Change) undoneIn() int {
	if ch.Resource == "role" && ch.Action == Update {
		return 0
	}
	return 1
}

// final reports whether a change can't be undone: deletions, and where secrets are replaced that
// nobody can read, or tokens are opened and closed.
func (ch *Change) final() bool {
	return ch.Action == Delete || ch.Action == Update && (ch.Tokens > 0 ||
		ch.before.secrets && ch.after.fields[signingSecret] != nil ||
		ch.Resource == "client" && ch.before.fields["public"] != ch.after.fields["public"])
}

// turn returns when a change is made: what is final comes last, when nothing else can fail.
func (ch *Change) turn() int {
	if ch.final() {
		return 1
	}
	return 0
}

func (ch *Change) make(ctx context.Context, c *client.Client, force bool) error {
	switch {
	case ch.Action == Delete:
		return ch.before.delete(ctx, c)
	case ch.after.resource.isText():
		return ch.after.putText(ctx, c, ch.before, force)
	}
	if ch.before != nil && ch.after.source() == ch.before.source() {
		return ch.open(ctx, c)
	}
	answer, err := ch.after.put(ctx, c, ch.params())
	if err != nil {
		return err
	}
	ch.after.token, ch.after.tag = textOf(answer, "uuid"), textOf(answer, "etag")
	if ch.Action == Create {
		ch.WebhookURL, ch.Secret = textOf(answer, "webhookUrl"), textOf(answer, "secret")
	}
	return ch.open(ctx, c)
}

// unmake takes back what make did.
func (ch *Change) unmake(ctx context.Context, c *client.Client) (err error) {
	switch {
	case ch.Action == Create:
		return ch.after.delete(ctx, c)
	case ch.after.resource.isText():
		return ch.before.putText(ctx, c, ch.after, true)
	}
	_, err = ch.before.put(ctx, c, ch.before.params(ch.after))
	return err
}

// params returns the parameters that store what a change makes.
func (ch *Change) params() map[string]any {
	params := ch.after.params(ch.before)
	if ch.Action == Create && ch.uuid != "" {
		params["token"] = ch.uuid
	}
	return params
}
