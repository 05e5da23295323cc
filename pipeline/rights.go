package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/pipeline/source"
)

// rights follows which user each step of a program runs as, and finds refusals in advance:
// forbidden commands and switches, unknown users, missing or forbidden secrets, and names outside
// of scopes.
type rights struct {
	runner *Runner
	ctx    context.Context //nolint:containedctx // of one walk
	owner  sluice.User
	event  string // pattern of the keys of the events that start the program
	found  []sluice.Finding
	err    error // of a look-up
}

// refusals returns what an owner's program may not do, in the order of the source. Offline,
// without a look-up of users, it finds nothing.
func (r *Runner) refusals(ctx context.Context, p *source.Program, owner sluice.User) ([]sluice.Finding, error) {
	if r.User == nil {
		return nil, nil
	}
	w := &rights{runner: r, ctx: sluice.UsingSecrets(ctx, owner), owner: owner}
	top := &source.Step{Line: 1, Column: 1}
	w.secrets(top, p.Secrets())
	var user *sluice.User // nil where a caller starts the run: any user may
	if pattern, listens := p.Listens(""); listens {
		w.event = strings.TrimPrefix(pattern, sluice.EventPrefix)
		user = w.find(sluice.AnonymousName)
	} else if owner.IsScoped() {
		user = &sluice.User{Permissions: []string{"*"}} // whoever it is reaches nothing that the owner does not
	}
	if user != nil {
		*user = user.WithinScopes(owner)
	}
	source.Follow(p.Steps, user, w.step, same)
	return w.found, w.err
}

// step returns the user that a run goes on as behind a step, nil if that is not known.
func (w *rights) step(s *source.Step, user *sluice.User) *sluice.User {
	w.secrets(s, s.Secrets())
	if a, calls := s.Action.(*source.Invocation); calls {
		return w.call(s, a, user)
	}
	return user
}

// same returns the user that both branches end with, nil if they differ.
func same(one, other *sluice.User) *sluice.User {
	if one == nil || other == nil || one.Name != other.Name {
		return nil
	}
	return one
}

func (w *rights) call(s *source.Step, a *source.Invocation, user *sluice.User) *sluice.User {
	if user != nil && !a.Command.Allows(*user) {
		w.refuse(s, a.Command.Name, fmt.Sprintf("%s may not run %s.", user.Name, a.Command.Name),
			w.switchHint(a.Command.Name, user.Name))
	} else if user != nil {
		w.names(s, a, *user)
	}
	switch a.Command.Name {
	case source.SwitchCommand:
		return w.switched(s, a)
	case sluice.ReceiveCommand:
		w.receive(s, a)
	case "iam.authorize":
		return nil
	}
	return user
}

// receive checks that a step asks for the event that starts the run, unless the owner may
// read others. A program that others may run gets theirs.
func (w *rights) receive(s *source.Step, a *source.Invocation) {
	key, ok := a.Literal("eventKey")
	if !ok || w.event == "" && !w.owner.IsScoped() || w.owner.MayReceive(key) || sluice.KeyMatches(w.event, key) {
		return
	}
	w.refuse(s, sluice.ReceiveCommand, w.owner.Name+
		", who stores this pipeline, may read no events but the one that starts the run, or none of "+key+".",
		askForRole(sluice.ReceiveCommand))
}

// names checks what the arguments of a step name, as far as they are known.
func (w *rights) names(s *source.Step, a *source.Invocation, user sluice.User) {
	known := a.Known()
	args := make(command.Args, 0, len(known))
	for name, value := range known {
		args = append(args, command.Arg{Name: name, Value: value})
	}
	if err := w.runner.Commands().Covered(w.ctx, a.Command, user, args); err != nil {
		e := sluice.AsError(err)
		w.note(s, sluice.CodeNotPermitted.Errorf("%s, who stores this pipeline, or %s, whom the step runs as, has no "+
			"role with the permission %s whose scope covers what it names: %s", w.owner.Name,
			cmp.Or(user.Name, "whoever runs it"), a.Command.Name, e.Message).About(e.Parameter), a.Command.Name,
			"Name something that the scope of the roles covers, or ask an administrator for a role that covers it.")
	}
}

// switchHint returns the line to add before a step: a switch to the owner, if the owner
// has the permission. A user whom the author chose is not replaced by an
// administrator.
func (w *rights) switchHint(permission, running string) string {
	if running != sluice.AnonymousName && w.owner.May(sluice.MayRunAs+sluice.AdminName) {
		return "Give " + running + " a role that may, or let the step run as another user."
	}
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
func (w *rights) switched(s *source.Step, a *source.Invocation) *sluice.User {
	name, ok := a.Literal("username")
	switch {
	case !ok:
		return nil
	case name == w.owner.Name:
		owner := w.owner
		return &owner
	}
	if permission := sluice.MayRunAs + name; !w.owner.May(permission) {
		w.refuse(s, permission,
			fmt.Sprintf("%s, who stores this pipeline, may not let it run as %s.", w.owner.Name, name),
			switchLine(w.owner.Name))
		return nil // don't reveal whether the user exists
	}
	user := w.find(name)
	if user == nil && w.err == nil {
		w.note(s, sluice.CodeUserUnknown.Errorf("There is no user %s, or it is disabled.", sluice.Quote(name)),
			sluice.MayRunAs+name, w.try("iam.user.put", "sluice user create ", name))
	}
	return user
}

// find looks up a user, nil if there is none.
func (w *rights) find(name string) *sluice.User {
	user, err := w.runner.User(w.ctx, name)
	switch {
	case err == nil:
		return &user
	case !sluice.Unauthenticated.Is(err):
		w.err = err
	}
	return nil
}

// secrets checks the secrets that a step needs.
func (w *rights) secrets(s *source.Step, names []string) {
	for _, name := range names {
		if !w.owner.May(sluice.MayUseSecrets) {
			w.refuse(s, sluice.MayUseSecrets, w.owner.Name+", who stores this pipeline, may not use secrets.",
				askForRole(sluice.MayUseSecrets))
			continue
		}
		_, err := w.runner.Secret(w.ctx, name)
		switch {
		case err == nil:
		case sluice.NotFound.Is(err):
			w.note(s, sluice.AsError(err).Coded(sluice.CodeSecretUnknown), sluice.MayUseSecrets,
				w.try("secret.put", "sluice secret put ", name))
		default:
			w.err = err
		}
	}
}

// try returns the command line that makes what is missing, if the owner may make it.
func (w *rights) try(permission, line, name string) string {
	if !w.owner.May(permission) || !w.owner.Cover(permission).Name(name) {
		return ""
	}
	return line + name
}

// refuse notes that a permission is missing.
func (w *rights) refuse(s *source.Step, permission, message, hint string) {
	w.note(s, sluice.CodeNotPermitted.Errorf("%s", message), permission, hint)
}

func askForRole(permission string) string {
	return "Ask an administrator for a role that has the permission " + permission + "."
}

func (w *rights) note(s *source.Step, e *sluice.Error, permission, hint string) {
	if len(w.found) < source.MaxProblems {
		f := finding(s, e)
		f.Permission, f.Hint = permission, hint
		w.found = append(w.found, f)
	}
}

// mayListen checks that a user may use the trigger for all that it listens to. What is told
// of an alert is checked when it comes.
func mayListen(p *source.Program, name string, user sluice.User) error {
	switch pattern, _ := p.Listens(name); {
	case p.Trigger == nil:
	case !user.May(p.Trigger.Command):
		return sluice.NotPermitted(p.Trigger.Command)
	case !user.Cover(p.Trigger.Command).Message(pattern) &&
		!strings.HasPrefix(pattern, sluice.EventPrefix+sluice.AlertPrefix):
		pattern = strings.TrimPrefix(pattern, sluice.EventPrefix)
		return sluice.CodeForbidden.Errorf(
			"Your roles have the permission %s, but not for all that %s matches: it reaches outside of %s.",
			p.Trigger.Command, sluice.Quote(pattern), user.Cover(p.Trigger.Command))
	}
	return nil
}

// switches returns the users that a program switches to, as its source names them.
func switches(p *source.Program) (users []string) {
	for s := range p.All() {
		if a, ok := s.Action.(*source.Invocation); ok && a.Command.Name == source.SwitchCommand {
			name, literal := a.Literal("username")
			if !literal {
				name = "(computed)"
			}
			users = append(users, name)
		}
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// secretsIn returns the names of the secrets that a program asks for.
func secretsIn(p *source.Program) []string {
	names := p.Secrets()
	for s := range p.All() {
		names = append(names, s.Secrets()...)
	}
	return names
}

// folderOwner owns the pipelines of the operator's folder.
func folderOwner() sluice.User {
	return sluice.User{Name: sluice.AdminName, Roles: []string{sluice.AdminName}, Permissions: []string{"*"}}
}
