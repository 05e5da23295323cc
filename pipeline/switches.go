package pipeline

import (
	"context"
	"slices"
	"strings"

	"sluice"
)

// switchCommand is the step after which a run goes on as another user.
const switchCommand = "iam.run.as"

// switches returns the users that a program switches to, as its source names them.
func (p *Program) switches() []string {
	users := switchesOf(p.steps)
	slices.Sort(users)
	return slices.Compact(users)
}

func switchesOf(steps []*step) (users []string) {
	for _, s := range steps {
		switch a := s.action.(type) {
		case *choice:
			users = append(append(users, switchesOf(a.then)...), switchesOf(a.otherwise)...)
		case *loop:
			users = append(users, switchesOf(a.steps)...)
		case *invocation:
			if a.command.Name == switchCommand {
				name, ok := literal(a, "username")
				if !ok {
					name = "(computed)"
				}
				users = append(users, name)
			}
		}
	}
	return users
}

// noteSwitches enters a pipeline that switches users in the audit log when it is
// stored. Its runs are not there: they would flood it.
func (r *Runner) noteSwitches(ctx context.Context, p *Program, record sluice.Pipeline) {
	users := p.switches()
	if len(users) == 0 {
		return
	}
	r.Note(ctx, sluice.AuditEntry{
		Username: record.Owner,
		Address:  sluice.UserFrom(ctx).Address,
		Command:  switchCommand,
		Target:   record.Name + " " + strings.Join(users, ","),
		Outcome:  sluice.AuditAllowed,
	})
}
