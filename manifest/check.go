package manifest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice"
	"sluice/client"
)

// check lets the server check everything that it would have to store, and notes its
// warnings. It returns the first refusal.
func (p *Plan) check(ctx context.Context, c *client.Client) error {
	if err := p.permitted(ctx, c); err != nil {
		return err
	}
	for _, change := range p.Changes {
		if err := p.checkChange(ctx, c, change); err != nil {
			return err
		}
	}
	return nil
}

// permitted refuses changes whose commands the user may not call. For users who may
// not even ask for their permissions, the commands find out.
func (p *Plan) permitted(ctx context.Context, c *client.Client) error {
	if len(p.Changes) == 0 {
		return nil
	}
	var me sluice.User
	switch err := c.Decode(ctx, "iam.whoami", nil, nil, &me); {
	case sluice.Forbidden.Is(err):
		return nil
	case err != nil:
		return err
	}
	for _, change := range p.Changes {
		about := cmp.Or(change.after, change.before)
		command := about.resource.Put
		if change.Action == Delete {
			command = about.resource.Remove
		}
		if !me.May(command) {
			return about.blame(sluice.NotPermitted(command))
		}
	}
	return nil
}

func (p *Plan) checkChange(ctx context.Context, c *client.Client, change *Change) error {
	if change.before != nil && strings.HasPrefix(change.before.token, "…") { // a webhook's, hidden from this user
		return change.before.blame(sluice.NotPermitted(sluice.MaySeeTokens))
	}
	t := change.after
	switch {
	case change.Action == Delete:
		return nil
	case t.resource.isText():
		return p.lint(ctx, c, change)
	case change.Resource == "role" && change.Action == Create:
		if err := t.isOwn(ctx, c); err != nil {
			return err
		}
	}
	params := change.params()
	params["dryRun"] = true
	if change.Resource == "client" {
		params["roles"] = p.without(Create, "role", params["roles"])
	}
	answer, err := t.put(ctx, c, params)
	if err != nil {
		return err
	}
	warnings, _ := answer["warnings"].([]any)
	for _, warning := range warnings {
		text := fmt.Sprint(warning)
		change.Warnings = append(change.Warnings, t.position("", text)+": "+text)
	}
	return nil
}

// without returns a list of names without those that the plan creates, updates or
// deletes: the server does not know the roles yet that it will get.
func (p *Plan) without(action, resource string, names any) []any {
	list, _ := names.([]any)
	return slices.DeleteFunc(slices.Clone(list),
		func(name any) bool { return p.has(action, resource, fmt.Sprint(name)) })
}

func (p *Plan) has(action, resource, name string) bool {
	return slices.ContainsFunc(p.Changes,
		func(ch *Change) bool { return ch.Action == action && ch.Resource == resource && ch.Name == name })
}

// isOwn refuses a built-in role.
func (t *thing) isOwn(ctx context.Context, c *client.Client) error {
	var role map[string]any
	switch err := c.Decode(ctx, t.resource.Get, map[string][]string{t.resource.Key: {t.name}}, nil, &role); {
	case sluice.NotFound.Is(err):
		return nil
	case err != nil:
		return err
	case role["builtIn"] != nil:
		return mistake("%s: the role %s is built in, and files leave such roles alone; delete the file, or rename it.",
			t.file, t.name)
	}
	return nil
}

// lint refuses a pipeline with mistakes, or with steps that would be refused, such as
// one that needs an unknown secret. If the plan changes roles, rights may change, too:
// then they are checked when the pipeline is stored.
func (p *Plan) lint(ctx context.Context, c *client.Client, change *Change) error {
	t := change.after
	if !sluice.ValidPipelineName(t.name) {
		return mistake("%s: the name of the file is that of the pipeline, which must be %s.", t.file,
			sluice.PipelineNameRule)
	}
	found, err := c.Lint(ctx, t.name, t.text)
	if err != nil {
		return t.blame(err)
	}
	roles := slices.ContainsFunc(p.Changes, func(other *Change) bool { return other.Resource == "role" })
	var problems []sluice.Finding
	for _, f := range found.Problems {
		switch {
		case f.Permission == "" || !p.force && (!roles || f.Code == sluice.CodeSecretUnknown.Word):
			problems = append(problems, f)
		case p.force:
			found.Warnings = append(found.Warnings, f)
		}
	}
	for _, f := range found.Warnings {
		if f.Code != sluice.CodeEventKeyUnknown.Word ||
			!p.has(Create, "webhook", strings.TrimPrefix(found.Listens, sluice.EventPrefix)) {
			change.Warnings = append(change.Warnings, t.describe(f))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	first := problems[0]
	text := t.describe(first)
	if more := len(problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return (&sluice.Error{Kind: sluice.Unprocessable, Code: first.Code, Message: text}).
		At(sluice.Position{Line: first.Line, Column: first.Column})
}

// describe returns a finding in one line, with its position.
func (t *thing) describe(f sluice.Finding) string {
	text := fmt.Sprintf("%s:%d:%d: %s %s", t.file, f.Line, f.Column, f.Message, f.Advice())
	return strings.TrimSpace(text)
}
