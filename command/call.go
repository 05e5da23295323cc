package command

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"sluice"
)

// Call runs a command: it checks the permission of the user of ctx, checks the
// arguments, and enters the call in the audit log. Every caller goes through
// it.
func (s Set) Call(ctx context.Context, c Command, args Args) (any, error) {
	user := sluice.UserFrom(ctx)
	if !c.Allows(user) {
		err := sluice.NotPermitted(c.Name)
		s.record(ctx, c, args, err)
		return nil, err
	}
	if c.InRun && sluice.RunFrom(ctx) == nil {
		return nil, sluice.Errorf(sluice.CodeNotInAPipeline, "%s is a step of pipelines; it does nothing by itself.", c.Name)
	}
	if s.charge != nil && sluice.RunFrom(ctx) == nil {
		release, err := s.charge(ctx, c.Name, args)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	out, err := c.run(ctx, args)
	if !c.ReadOnly && !c.Traffic {
		s.record(ctx, c, args, err)
	}
	return out, err
}

// Allows reports whether a user may run the command.
func (c Command) Allows(user sluice.User) bool {
	return user.MayCall(c.Name, c.ReadOnly)
}

// record enters a call in the audit log.
func (s Set) record(ctx context.Context, c Command, args Args, err error) {
	user := sluice.UserFrom(ctx)
	entry := sluice.AuditEntry{
		Username: user.Name,
		Address:  user.Address,
		Command:  c.Name,
		Target:   c.target(args),
		Outcome:  sluice.AuditAllowed,
	}
	if err != nil {
		e := sluice.AsError(err)
		entry.Code = e.Code
		entry.Outcome = sluice.AuditFailed
		if e.Kind == sluice.Forbidden || e.Kind == sluice.Unauthenticated {
			entry.Outcome = sluice.AuditRefused
		}
	}
	s.audit(ctx, entry)
}

// target returns the values of the parameters that say what a call is about, in
// the order of their declaration.
func (c Command) target(args Args) string {
	var values []string
	for _, p := range c.Params {
		for _, arg := range args {
			if p.audit == "" || !p.answersTo(arg.Name) {
				continue
			}
			if value := p.shown(arg.Value); value != "" {
				values = append(values, value)
			}
		}
	}
	return strings.Join(values, " ")
}

// maxNames is how many names of a list the audit log has.
const maxNames = 100

// shown returns an argument as the audit log has it.
func (p Param) shown(arg any) string {
	value, err := p.parse(arg)
	if err != nil {
		return ""
	}
	switch v := value.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []string:
		var names []string
		for _, name := range v[:min(len(v), maxNames)] {
			names = append(names, asName(name))
		}
		if more := len(v) - maxNames; more > 0 {
			names = append(names, fmt.Sprintf("(%d more)", more))
		}
		return strings.Join(names, ",")
	case bool:
		if v {
			return p.Name
		}
	case string:
		if p.audit == "last6" {
			return sluice.Last6(v)
		}
		return asName(v)
	}
	return ""
}

var plainName = regexp.MustCompile(`^[\w.:@+*#/-]{0,200}$`)

// asName returns a name unchanged. Other texts stay out of the audit log:
// people put passwords into the wrong field.
func asName(text string) string {
	if !plainName.MatchString(text) {
		return "(invalid)"
	}
	return text
}
