package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/value"
)

// check lets the server check everything that it would have to store, and notes its
// warnings.
func (p *Plan) check(ctx context.Context) error {
	if len(p.Changes) == 0 {
		return nil
	}
	roles, err := p.roles()
	if err != nil {
		return err
	}
	refused, err := p.permitted(ctx)
	if err != nil {
		return err
	}
	for _, change := range p.Changes {
		found, err := p.checkChange(ctx, change, roles)
		if err != nil {
			return err
		}
		refused = append(refused, found...)
	}
	for _, change := range p.Changes {
		key := change.listens
		if change.unknown != "" && !p.has(Create, "webhook", key) && !slices.Contains(p.sent, key) {
			change.Warnings = append(change.Warnings, change.unknown)
		}
	}
	return errors.Join(refused...)
}

// roles returns the roles that the plan stores as the server assumes them, "" if there are none.
func (p *Plan) roles() (string, error) {
	roles := make(map[string]any)
	for _, change := range p.Changes {
		if change.Resource == "role" && change.Action != Delete {
			roles[change.Name] = change.After
		}
	}
	if len(roles) == 0 {
		return "", nil
	}
	text, err := value.Marshal(roles)
	return string(text), err
}

// permitted finds changes whose commands the user may not call. It puts those last that can't be
// undone, and behind them those of the user's own roles: the rest needs what they allow now. For
// users who may not even ask for their permissions, the commands find out.
func (p *Plan) permitted(ctx context.Context) (refused []error, err error) {
	var me sluice.User
	switch err := p.server.Decode(ctx, "iam.whoami", nil, nil, &me); {
	case sluice.Forbidden.Is(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	for _, change := range p.Changes {
		about := cmp.Or(change.after, change.before)
		command := about.resource.Put
		if change.Action == Delete {
			command = about.resource.Remove
		}
		if !me.May(command) {
			refused = append(refused, about.blame(sluice.NotPermitted(command)))
		}
	}
	turn := func(ch *Change) int {
		switch {
		case ch.Resource == "role" && slices.Contains(me.Roles, ch.Name):
			return 2
		case ch.final():
			return 1
		}
		return 0
	}
	slices.SortStableFunc(p.Changes, func(a, b *Change) int { return turn(a) - turn(b) })
	return refused, nil
}

// checkChange lets the server check one change. An error that says nothing about the change
// ends the check.
func (p *Plan) checkChange(ctx context.Context, change *Change, roles string) (refused []error, err error) {
	t := change.after
	switch {
	case change.before != nil && strings.HasPrefix(change.before.token, "…"): // hidden from this user
		err = change.before.blame(sluice.NotPermitted(sluice.MaySeeTokens))
	case change.Action == Delete && (change.Resource == "role" || change.Resource == "client"):
		_, err = change.before.put(ctx, map[string]any{change.before.resource.Key: change.Name, "dryRun": true})
	case change.Action == Delete:
		return nil, nil
	case t.resource.isText():
		refused, err = p.lint(ctx, change, roles)
	default:
		if err = p.rehearse(ctx, change); err == nil {
			err = change.after.blame(p.checkTokens(change))
		}
	}
	e := sluice.AsError(err)
	switch {
	case err == nil:
		return refused, nil
	case e.Kind == sluice.Internal || e.Kind == sluice.Unavailable || ctx.Err() != nil:
		return nil, err
	case e.Code == string(sluice.CodeSecretUnknown):
		refused = t.missingSecrets(ctx)
	}
	if refused != nil {
		return refused, nil
	}
	return []error{err}, nil
}

// missingSecrets returns a refusal for each secret that a webhook names and the server lacks, as
// far as the user may know.
func (t *thing) missingSecrets(ctx context.Context) (refused []error) {
	for _, f := range t.resource.fields {
		text, _ := t.fields[f.name].(string)
		for part := range strings.SplitSeq(text, ",") {
			name, stored := strings.CutPrefix(strings.TrimSpace(part), sluice.StoredSecret)
			if !stored || !f.setting.Form.Secret {
				continue
			}
			_, err := t.resource.server.Command(ctx, "secret.get", url.Values{"name": {name}}, nil)
			if sluice.NotFound.Is(err) {
				refused = append(refused, t.blame(sluice.AsError(err).About(f.name)))
			}
		}
	}
	return refused
}

// rehearse stores a webhook, role or client without storing it.
func (p *Plan) rehearse(ctx context.Context, change *Change) error {
	if change.Resource == "role" && change.Action == Create {
		if err := change.after.isOwn(ctx); err != nil {
			return err
		}
	}
	params := change.params(p.force)
	params["dryRun"] = true
	if change.Resource == "client" {
		params["roles"] = p.without(Create, "role", params["roles"])
	}
	answer, err := change.after.put(ctx, params)
	if err != nil {
		return err
	}
	warnings, _ := answer["warnings"].([]any)
	for _, warning := range warnings {
		text := fmt.Sprint(warning)
		change.Warnings = append(change.Warnings, change.after.position("", text)+": "+text)
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

// checkTokens refuses tokens that the server would: those of other webhooks, too many, and none.
func (p *Plan) checkTokens(change *Change) error {
	wanted, open := change.further, len(change.further)
	if change.before != nil {
		for _, isOpen := range change.before.open {
			if isOpen {
				open++
			}
		}
	} else {
		wanted, open = append([]token{{Token: change.uuid}}, wanted...), open+1
	}
	for _, t := range wanted {
		if owner, taken := p.owners[t.Token]; taken && (owner != change.Name || change.before == nil) {
			return sluice.CodeTokenTaken.Errorf("The token …%s is one of the webhook %s already.",
				sluice.Last6(t.Token), owner)
		}
		if t.Token != "" {
			p.owners[t.Token] = change.Name
		}
	}
	switch {
	case open > sluice.MaxTokens:
		return sluice.CodeTooManyTokens.Errorf("The webhook would have %d open tokens; at most %d are allowed.", open,
			sluice.MaxTokens)
	case open == 1 && change.closes:
		return sluice.CodeLastToken.Errorf(
			"The webhook would have no open token, and nobody could call it; set disabled.")
	}
	return nil
}

func (p *Plan) has(action, resource, name string) bool {
	return slices.ContainsFunc(p.Changes,
		func(ch *Change) bool { return ch.Action == action && ch.Resource == resource && ch.Name == name })
}

// isOwn refuses a built-in role.
func (t *thing) isOwn(ctx context.Context) error {
	var role map[string]any
	r := t.resource
	switch err := r.server.Decode(ctx, r.Get, url.Values{r.Key: {t.name}}, nil, &role); {
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

// lint finds the mistakes of a pipeline, and its steps that would be refused, such as one that
// needs an unknown secret. Its rights are those that the roles of the plan give.
func (p *Plan) lint(ctx context.Context, change *Change, roles string) (refused []error, _ error) {
	t := change.after
	if !sluice.ValidPipelineName(t.name) {
		return nil, mistake("%s: the name of the file is that of the pipeline, which must be %s.", t.file,
			sluice.PipelineNameRule)
	}
	found, err := p.server.Lint(ctx, t.name, t.text, roles)
	if err != nil {
		return nil, t.blame(err)
	}
	for _, f := range found.Problems {
		if f.Permission != "" && p.force {
			found.Warnings = append(found.Warnings, f)
			continue
		}
		refused = append(refused, (&sluice.Error{Kind: sluice.Unprocessable, Code: f.Code, Message: t.describe(f)}).
			At(sluice.Position{Line: f.Line, Column: f.Column}))
	}
	p.sent = append(p.sent, found.Sends...)
	for _, f := range found.Warnings {
		if f.Code == string(sluice.CodeEventKeyUnknown) {
			change.unknown, change.listens = t.describe(f), strings.TrimPrefix(found.Listens, sluice.EventPrefix)
			continue
		}
		change.Warnings = append(change.Warnings, t.describe(f))
	}
	return refused, nil
}

// describe returns a finding in one line, with its position.
func (t *thing) describe(f sluice.Finding) string {
	text := fmt.Sprintf("%s:%d:%d: %s %s", t.file, f.Line, f.Column, f.Message, f.Advice())
	return strings.TrimSpace(text)
}
