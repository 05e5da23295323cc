package manifest

import (
	"context"
	"errors"
	"slices"

	"sluice"
)

// Apply carries out a plan, and returns the changes that were made. If one fails, those before
// it are undone, unless one of them is final: then a new plan goes on from there.
func (p *Plan) Apply(ctx context.Context) (made []*Change, err error) {
	for _, change := range p.Changes {
		err = change.make(ctx, p.force)
		if err == nil || change.Action == Create && change.after.token != "" { // only its tokens failed
			made = append(made, change)
		}
		if err != nil {
			break
		}
	}
	if err == nil || slices.ContainsFunc(made, (*Change).final) {
		return made, err
	}
	for _, change := range slices.Backward(made) {
		if why := change.unmake(context.WithoutCancel(ctx)); why != nil {
			return made, errors.Join(err, why)
		}
	}
	e := sluice.AsError(err)
	return nil, e.Saying(e.Message + " What was changed before it is undone.")
}

// final reports whether a change can't be undone: deletions, and where secrets are replaced that
// nobody can read, or tokens are opened and closed.
func (ch *Change) final() bool {
	return ch.Action == Delete || ch.Action == Update && (ch.Tokens > 0 || ch.before.secrets)
}

func (ch *Change) make(ctx context.Context, force bool) error {
	if ch.Action == Delete {
		return ch.before.delete(ctx)
	}
	if ch.before != nil && ch.after.source() == ch.before.source() {
		return ch.open(ctx)
	}
	answer, err := ch.after.put(ctx, ch.params(force))
	if err != nil {
		return err
	}
	ch.after.token, ch.after.tag = textOf(answer, "uuid"), textOf(answer, "etag")
	if ch.Action == Create {
		ch.WebhookURL, ch.Secret = textOf(answer, "webhookUrl"), textOf(answer, "secret")
	}
	return ch.open(ctx)
}

// unmake takes back what make did.
func (ch *Change) unmake(ctx context.Context) (err error) {
	if ch.Action == Create {
		return ch.after.delete(ctx)
	}
	_, err = ch.before.put(ctx, ch.before.params(ch.after, true))
	return err
}

// params returns the parameters that store what a change makes.
func (ch *Change) params(force bool) map[string]any {
	params := ch.after.params(ch.before, force)
	if ch.Action == Create && ch.uuid != "" {
		params["token"] = ch.uuid
	}
	return params
}
