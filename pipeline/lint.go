package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice"
	"sluice/pipeline/source"
)

// sourceParams are the parameters of commands that examine a source.
type sourceParams struct {
	Name   string `json:"name" names:"pipeline" doc:"Name of the stored pipeline: it is taken if no source is given, otherwise the source is meant for it."`
	Source string `json:"source" body:"only" doc:"The pipeline as YAML or JSON."`
}

// source returns the source that a command examines.
func (r *Runner) source(ctx context.Context, p sourceParams) (string, error) {
	if p.Source != "" {
		return p.Source, nil
	}
	if p.Name == "" {
		return "", sluice.InvalidParameter("source",
			"Give the source of a pipeline as the body, or the name of a stored one.")
	}
	stored, err := r.find(ctx, p.Name)
	if err != nil {
		return "", err
	}
	return stored.Source, nil
}

type lintParams struct {
	sourceParams

	Roles map[string]any `json:"roles" doc:"Roles by name, as they would be: what the pipeline may do is checked as if they were stored. Needs the permission iam.role.put."`
}

// assuming returns a context in which roles are as given.
func assuming(ctx context.Context, roles map[string]any) (context.Context, error) {
	if roles == nil {
		return ctx, nil
	}
	if !sluice.UserFrom(ctx).May("iam.role.put") {
		return nil, sluice.NotPermitted("iam.role.put").About("roles")
	}
	return sluice.AssumingRoles(ctx, roles)
}

func (r *Runner) lint(ctx context.Context, p lintParams) (result sluice.LintResult, err error) {
	if ctx, err = assuming(ctx, p.Roles); err != nil {
		return result, err
	}
	text, err := r.source(ctx, p.sourceParams)
	if err != nil {
		return result, err
	}
	program, err := r.parse(ctx, text)
	if err == nil {
		return r.lintRights(ctx, p.Name, program)
	}
	if result.Problems = source.ProblemsOf(err); result.Problems != nil {
		err = nil
	}
	return result, err
}

// lintRights returns what a program without mistakes may not do, if the caller stores it.
func (r *Runner) lintRights(ctx context.Context, name string, p *source.Program) (result sluice.LintResult, err error) {
	user := sluice.UserFrom(ctx)
	found, err := r.refusals(ctx, p, user)
	if err != nil {
		return result, err
	}
	result.Problems = append([]sluice.Finding{}, found...)
	if err := mayListen(p, name, user); r.User != nil && err != nil {
		refused := finding(p.Trigger.Step(), sluice.CodeNotPermitted.Errorf(
			"You may not store pipelines that listen to this. %s", sluice.AsError(err).Message))
		refused.Permission = p.Trigger.Command
		result.Problems = slices.Insert(result.Problems, 0, refused)
	}
	result.Valid, result.RightsChecked = len(result.Problems) == 0, r.User != nil
	result.Listens, _ = p.Listens(name)
	result.Sends = sends(p, name)
	var before *sluice.Pipeline
	if name != "" {
		if before, err = r.Store.Get(ctx, name); err != nil {
			return result, err
		}
	}
	lent, err := r.lentRights(ctx, p, before, user, result.Problems)
	result.Warnings = slices.Concat(lent, r.unknownKey(ctx, p), r.traps(ctx, p))
	return result, err
}

// notPermitted is the error of a program that lacks rights. It ends with the line to
// add, so that the line is easy to copy.
func notPermitted(found []sluice.Finding) error {
	first := found[0]
	message := fmt.Sprintf("Line %d: %s", first.Line, first.Message)
	if more := len(found) - 1; more > 0 {
		message += fmt.Sprintf(" There are %d more.", more)
	}
	return sluice.CodePipelineNotPermitted.Errorf("%s With force=true (--force) it is stored all the same. %s",
		message, first.Advice()).
		At(sluice.Position{Line: first.Line, Column: first.Column, Step: first.Step}).Detailed(found)
}

// unknownKey warns of an event key that no webhook has. That is no mistake, since events
// have other sources.
func (r *Runner) unknownKey(ctx context.Context, p *source.Program) []sluice.Finding {
	pattern, _ := p.Listens("")
	key, isEvent := strings.CutPrefix(pattern, sluice.EventPrefix)
	if r.NearestKey == nil || !isEvent || !sluice.ValidKey(key) {
		return nil
	}
	user := sluice.UserFrom(ctx)
	near := r.NearestKey(user.HintCover("webhook.get"), key)
	if near == key || strings.HasPrefix(key, sluice.AlertPrefix) || slices.Contains(r.sent(user), key) {
		return nil
	}
	e := sluice.CodeEventKeyUnknown.Errorf("No webhook has the event key %s, and no pipeline sends it.", key)
	hint := ""
	name, scheduled := strings.CutPrefix(key, sluice.SchedulePrefix)
	switch {
	case scheduled:
		e = e.Saying(fmt.Sprintf("No pipeline of the name %s has a schedule.", name))
	case near != "":
		e = e.Saying(fmt.Sprintf("No webhook has the event key %s; did you mean %s?", key, near))
	case strings.HasPrefix(key, "webhook.") && user.May("webhook.put") && user.Cover("webhook.put").Event(key):
		hint = "sluice webhook create " + key
	}
	f := finding(p.Trigger.Step(), e)
	f.Hint = hint
	return []sluice.Finding{f}
}

// sent returns the keys of the events that stored pipelines send, as far as the user sees them.
func (r *Runner) sent(user sluice.User) (keys []string) {
	for _, stored := range r.Store.All() {
		if program, err := r.program(stored); err == nil && user.HintCover("pipeline.get").Name(stored.Name) {
			keys = append(keys, sends(program, stored.Name)...)
		}
	}
	return keys
}

// sends returns the keys of the events that a program sends as the pipeline of a name, as far as its source names
// them, and of the event of its schedule.
func sends(p *source.Program, name string) (keys []string) {
	if p.Trigger != nil && p.Trigger.Schedule != nil && name != "" {
		keys = append(keys, sluice.SchedulePrefix+name)
	}
	for s := range p.All() {
		if a, ok := s.Action.(*source.Invocation); ok && a.Command.Name == "event.send" {
			if key, literal := a.Literal("eventKey"); literal {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// lentRights warns if a pipeline gains rights because another user saves it.
func (r *Runner) lentRights(
	ctx context.Context, p *source.Program, before *sluice.Pipeline, saver sluice.User, found []sluice.Finding,
) ([]sluice.Finding, error) {
	if before == nil || before.Owner == saver.Name && before.OwnerID == saver.ID || r.User == nil {
		return nil, nil
	}
	owner, err := orNobody(r.owner(before)(ctx))
	if err != nil {
		return nil, err
	}
	lacked, err := r.refusals(ctx, p, owner)
	if err != nil || len(lacked) <= len(found) {
		return nil, err
	}
	f := lacked[0]
	f.Code, f.Parameter, f.Hint = string(sluice.CodeRightsLent), "", ""
	f.Message = fmt.Sprintf("The pipeline was %s's and is %s's now: it may do what it could not do before, with the "+
		"rights of %s.", before.Owner, saver.Name, saver.Name)
	return []sluice.Finding{f}, nil
}
