package manifest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice"
	"sluice/client"
)

// check lets the server look at what it would have to store. Webhooks and
// pipelines are looked at as they are; roles and clients are simple.
func (p *Plan) check(ctx context.Context, c *client.Client) error {
	for _, change := range p.Changes {
		var err error
		switch {
		case change.Kind == "webhook" && change.before != nil:
			err = change.before.changeable()
		case change.Kind == "role" && change.Action == Create:
			err = change.after.isOwn(ctx, c)
		}
		if err == nil && change.Action != Delete {
			switch change.Kind {
			case "webhook":
				_, err = change.after.put(ctx, c, change.before, true)
			case "pipeline":
				err = p.lint(ctx, c, change.after)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isOwn refuses a role that is built in, which a server does not list among its
// own.
func (t *thing) isOwn(ctx context.Context, c *client.Client) error {
	answer, err := c.Command(ctx, t.kind.get, map[string][]string{t.kind.key: {t.name}}, nil)
	if err != nil {
		if sluice.AsError(err).Kind == sluice.NotFound {
			return nil
		}
		return err
	}
	var role map[string]any
	if err := json.Unmarshal(answer.Body, &role); err != nil {
		return malformed(t.kind, err)
	}
	if role["builtIn"] != nil {
		return mistake("%s: the role %s is built in, and files leave such roles alone; delete the file, or rename it.", t.file, t.name)
	}
	return nil
}

// lint refuses a pipeline with mistakes, or with steps that would be refused,
// such as one that needs a secret which isn't there. Roles that the plan changes
// may make a difference, so that rights are then left to the moment of storing.
func (p *Plan) lint(ctx context.Context, c *client.Client, t *thing) error {
	found, err := c.Lint(ctx, t.text)
	if err != nil {
		return t.blame(err)
	}
	roles := slices.ContainsFunc(p.Changes, func(other *Change) bool { return other.Kind == "role" })
	problems := slices.DeleteFunc(found.Problems, func(f sluice.Finding) bool {
		return f.Permission != "" && (p.force || roles && f.Code != "secret-unknown")
	})
	if len(problems) == 0 {
		return nil
	}
	first := problems[0]
	text := fmt.Sprintf("%s:%d:%d: %s", t.file, first.Line, first.Column, first.Message)
	if advice := first.Advice(); advice != "" {
		text += " " + advice
	}
	if more := len(problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return sluice.Errorf(sluice.Unprocessable, first.Code, "%s", text).At(sluice.Place{Line: first.Line, Column: first.Column})
}

// Apply carries out a plan and tells of each change once it is made. It stops at
// the first that fails; a new plan goes on from there.
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
	case ch.after.kind.isText():
		return ch.after.putText(ctx, c, ch.before, force)
	}
	answer, err := ch.after.put(ctx, c, ch.before, false)
	if err == nil && ch.Action == Create {
		ch.WebhookURL, ch.Secret = textOf(answer, "webhookUrl"), textOf(answer, "secret")
	}
	return err
}
