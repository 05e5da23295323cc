package pipeline

import (
	"context"
	"fmt"
	"strings"

	"sluice"
)

// rights follows who each step of a program would run as, and finds what would
// be refused at run time: commands that user may not run, users that don't
// exist, switches that the owner may not make, and secrets that are missing or
// that the owner may not use.
type rights struct {
	*Runner

	ctx   context.Context //nolint:containedctx // of one walk
	owner sluice.User
	found []sluice.Finding
	err   error // the look-up that failed
}

// checkRights returns what an owner's program may not do, in the order of the
// source. Without users to ask, as offline, it finds nothing.
func (r *Runner) checkRights(ctx context.Context, p *Program, owner sluice.User) ([]sluice.Finding, error) {
	if r.User == nil {
		return nil, nil
	}
	w := &rights{Runner: r, ctx: ctx, owner: owner}
	top := &step{line: 1, column: 1}
	for _, section := range [][]field{p.headers, p.vars} {
		for i := range section {
			w.secrets(top, &section[i].value)
		}
	}
	w.secrets(top, p.body)
	var user *sluice.User // of a pipeline that a caller runs it is not known
	if p.trigger != nil {
		user = w.user(sluice.AnonymousName)
	}
	w.list(p.steps, user)
	return w.found, w.err
}

// list follows steps one after the other. It gives who the next step would run
// as, nil if that is not known.
func (w *rights) list(steps []*step, user *sluice.User) *sluice.User {
	for _, s := range steps {
		after := w.step(s, user)
		if s.when != nil {
			w.templateSecrets(s, s.when.Secrets())
			after = same(user, after) // it may be left out
		}
		user = after
	}
	return user
}

func (w *rights) step(s *step, user *sluice.User) *sluice.User {
	switch a := s.action.(type) {
	case *invocation:
		return w.call(s, a, user)
	case *choice:
		w.templateSecrets(s, a.condition.Secrets())
		return same(w.list(a.then, user), w.list(a.otherwise, user))
	case *loop:
		w.secrets(s, &a.in)
		return same(user, w.list(a.steps, user))
	}
	return nil
}

// same returns the user that two ways lead to, nil if they lead to several.
func same(one, other *sluice.User) *sluice.User {
	if one == nil || other == nil || one.Name != other.Name {
		return nil
	}
	return one
}

func (w *rights) call(s *step, a *invocation, user *sluice.User) *sluice.User {
	for i := range a.args {
		w.secrets(s, &a.args[i].value)
	}
	w.secrets(s, a.input)
	if user != nil && !a.command.Allows(*user) {
		w.note(s, sluice.Finding{
			Code: sluice.CodeNotPermitted.Word, Permission: a.command.Name,
			Message: fmt.Sprintf("%s may not run %s.", user.Name, a.command.Name),
			Hint:    w.switchHint(a.command.Name),
		})
	}
	switch a.command.Name {
	case "http.forward":
		if secret, ok := literal(a, "sign"); ok {
			w.templateSecrets(s, []string{secret})
		}
	case switchCommand:
		return w.switched(s, a)
	case "iam.authorize":
		return nil
	}
	return user
}

// switchHint returns the line to add before a step: one that switches to the
// owner, if that is of use.
func (w *rights) switchHint(permission string) string {
	username := w.owner.Name
	if !w.owner.May(permission) {
		username = "a user who may"
	}
	return switchLine(username)
}

// switchLine returns the line of a source that switches to a user.
func switchLine(username string) string {
	if strings.Contains(username, ":") { // of a client
		username = "'" + username + "'"
	}
	return "- iam.run.as: {username: " + username + "}"
}

// switched returns the user that iam.run.as switches to.
func (w *rights) switched(s *step, a *invocation) *sluice.User {
	name, ok := literal(a, "username")
	switch {
	case !ok:
		return nil
	case name == w.owner.Name:
		owner := w.owner
		return &owner
	}
	if permission := sluice.MayRunAs + name; !w.owner.May(permission) {
		w.note(s, sluice.Finding{
			Code: sluice.CodeNotPermitted.Word, Permission: permission,
			Message: fmt.Sprintf("%s, who stores this pipeline, may not let it run as %s.", w.owner.Name, name),
			Hint:    switchLine(w.owner.Name),
		})
		return nil // who there is, is not for everybody to know
	}
	user := w.user(name)
	if user == nil && w.err == nil {
		w.note(s, sluice.Finding{
			Code: sluice.CodeUserUnknown.Word, Permission: sluice.MayRunAs + name,
			Message: fmt.Sprintf("There is no user %s, or it is disabled.", quote(name)),
			Hint:    switchLine(w.owner.Name),
		})
	}
	return user
}

// literal returns the text that the source has for an argument.
func literal(a *invocation, name string) (text string, ok bool) {
	for _, arg := range a.args {
		if arg.name == name && arg.value.shape == constant {
			text, ok = arg.value.data.(string)
		}
	}
	return text, ok
}

// user returns a user as of now, nil if there is none.
func (w *rights) user(name string) *sluice.User {
	user, err := w.User(w.ctx, name)
	switch {
	case err == nil:
		return &user
	case sluice.AsError(err).Kind != sluice.Unauthenticated:
		w.err = err
	}
	return nil
}

// secrets looks at the secrets that a value of the source needs.
func (w *rights) secrets(s *step, v *sourceValue) {
	if v == nil {
		return
	}
	if v.template != nil {
		w.templateSecrets(s, v.template.Secrets())
	}
	for i := range v.items {
		w.secrets(s, &v.items[i])
	}
}

func (w *rights) templateSecrets(s *step, names []string) {
	for _, name := range names {
		if !w.owner.May(sluice.MayUseSecrets) {
			w.note(s, sluice.Finding{
				Code: sluice.CodeNotPermitted.Word, Permission: sluice.MayUseSecrets,
				Message: w.owner.Name + ", who stores this pipeline, may not use secrets.",
				Hint:    "Ask an administrator for a role that has the permission " + sluice.MayUseSecrets + ".",
			})
			continue
		}
		_, err := w.Secret(w.ctx, name)
		switch {
		case err == nil:
		case sluice.AsError(err).Kind == sluice.NotFound:
			w.note(s, sluice.Finding{
				Code: sluice.CodeSecretUnknown.Word, Permission: sluice.MayUseSecrets,
				Message: sluice.AsError(err).Message, Hint: "sluice secret put " + name,
			})
		default:
			w.err = err
		}
	}
}

func (w *rights) note(s *step, f sluice.Finding) {
	if len(w.found) < maxProblems {
		f.Line, f.Column, f.Step, f.Command = s.line, s.column, label(s.name, s.id), s.name
		w.found = append(w.found, f)
	}
}

// notPermitted is the error of a program that would be refused what it does. The
// line to add is at its end, so that it can be copied.
func notPermitted(found []sluice.Finding) error {
	first := found[0]
	message := fmt.Sprintf("Line %d: %s", first.Line, first.Message)
	if more := len(found) - 1; more > 0 {
		message += fmt.Sprintf(" There are %d more.", more)
	}
	return sluice.Errorf(sluice.CodePipelineNotPermitted, "%s With force=true (--force) it is stored all the same. %s", message, first.Advice()).
		At(sluice.Place{Line: first.Line, Column: first.Column, Step: first.Step}).Detailed(found)
}

// unknownKey warns of an event key that no webhook has. Events may be sent in
// other ways, so it is no mistake.
func (r *Runner) unknownKey(p *Program) []sluice.Finding {
	pattern, _ := p.Listens()
	key, isEvent := strings.CutPrefix(pattern, sluice.EventPrefix)
	if r.NearestKey == nil || !isEvent || !sluice.ValidKey(key) {
		return nil
	}
	message, hint := fmt.Sprintf("No webhook has the event key %s.", key), "sluice webhook create "+key
	switch near := r.NearestKey(key); near {
	case key:
		return nil
	case "":
	default:
		message, hint = fmt.Sprintf("No webhook has the event key %s; did you mean %s?", key, near), ""
	}
	return []sluice.Finding{{
		Line: p.trigger.line, Column: p.trigger.column, Command: p.trigger.command, Step: p.trigger.command, Code: sluice.CodeEventKeyUnknown.Word,
		Message: message, Hint: hint,
	}}
}

// lentRights warns if a pipeline may do more than before because of who saves it
// now.
func (r *Runner) lentRights(ctx context.Context, p *Program, before *sluice.Pipeline, saver sluice.User, found []sluice.Finding) ([]sluice.Finding, error) {
	if before == nil || before.Owner == saver.Name && before.OwnerID == saver.ID || r.User == nil {
		return nil, nil
	}
	owner, err := r.owner(before)(ctx)
	if err != nil && sluice.AsError(err).Kind != sluice.Unauthenticated {
		return nil, err
	}
	lacked, err := r.checkRights(ctx, p, owner)
	if err != nil || len(lacked) <= len(found) {
		return nil, err
	}
	f := lacked[0]
	return []sluice.Finding{{
		Line: f.Line, Column: f.Column, Step: f.Step, Command: f.Command, Permission: f.Permission, Code: sluice.CodeRightsLent.Word,
		Message: fmt.Sprintf("The pipeline was %s's and is %s's now: it may do what it could not do before, with the rights of %s.", before.Owner, saver.Name, saver.Name),
	}}, nil
}
