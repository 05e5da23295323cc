package manifest

import (
	"context"

	"sluice/client"
)

// Apply carries out a plan, and calls done after each change. It stops at the first
// failure; a new plan goes on from there.
func (p *Plan) Apply(ctx context.Context, c *client.Client, done func(*Change)) error {
	for _, change := range p.Changes {
		if err := change.make(ctx, c, p.force); err != nil {
			return err
		}
		done(change)
	}
	return nil
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
	if ch.Action == Create {
		ch.WebhookURL, ch.Secret = textOf(answer, "webhookUrl"), textOf(answer, "secret")
	}
	return ch.open(ctx, c)
}

// params returns the parameters that store what a change makes.
func (ch *Change) params() map[string]any {
	params := ch.after.params(ch.before)
	if ch.Action == Create && ch.uuid != "" {
		params["token"] = ch.uuid
	}
	return params
}
