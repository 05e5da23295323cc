package command

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice"
)

// Call runs a command: it checks the permission of the user of ctx and whether their
// scopes cover what the call is about, checks the arguments, and enters the call in the
// audit log. Every caller goes through it.
func (s Set) Call(ctx context.Context, c Command, args Args) (any, error) {
	user := sluice.UserFrom(ctx)
	if err := s.allowed(ctx, c, user, args); err != nil {
		if !c.ReadOnly && !c.Traffic || sluice.AsError(err).Kind == sluice.Forbidden {
			s.record(ctx, c, s.target(ctx, c, args), err)
		}
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
	if user.IsScoped() {
		ctx = sluice.WithCover(ctx, user.CoverOf(c.Name, c.ReadOnly))
	}
	if c.ReadOnly || c.Traffic {
		return c.run(ctx, args)
	}
	target := s.target(ctx, c, args) // while it is there
	out, err := c.run(ctx, args)
	s.record(ctx, c, target, err)
	return out, err
}

// allowed refuses a command that the user may not run, or not on what the call is about.
func (s Set) allowed(ctx context.Context, c Command, user sluice.User, args Args) error {
	if !c.Allows(user) {
		return sluice.NotPermitted(c.Name)
	}
	return s.Covered(ctx, c, user, args)
}

// Covered refuses a call about what a user's scopes do not cover: as one about a thing
// that is not there or, where something is made, with Forbidden whether it is there or not.
func (s Set) Covered(ctx context.Context, c Command, user sluice.User, args Args) error {
	if c.Scoping != ByName || !user.IsScoped() {
		return nil
	}
	cover := user.CoverOf(c.Name, c.ReadOnly)
	return s.covered(sluice.WithCover(ctx, cover), c, args, cover)
}

// Allows reports whether a user may run the command.
func (c Command) Allows(user sluice.User) bool { return user.MayCall(c.Name, c.ReadOnly) }

// record enters a call in the audit log.
func (s Set) record(ctx context.Context, c Command, target string, err error) {
	user := sluice.UserFrom(ctx)
	entry := sluice.AuditEntry{
		Username: user.Name,
		Address:  user.Address,
		Command:  c.Name,
		Target:   target,
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
// the order of their declaration. A webhook is named by its event key.
func (s Set) target(ctx context.Context, c Command, args Args) string {
	var values []string
	for _, p := range c.Params {
		for _, arg := range args {
			if p.Audit == "" || !p.answersTo(arg.Name) {
				continue
			}
			value := p.shown(arg.Value)
			if token, err := p.parse(arg.Value); err == nil && p.Names == namesWebhook {
				value = cmp.Or(s.keyOf(ctx, fmt.Sprint(token)), value)
			}
			if value != "" && !slices.Contains(values, value) {
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
		if p.Audit == "last6" {
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

// Scoping says what a command has to do with the scopes of roles.
type Scoping string

// Every command is declared as one of these, or by the tag names of its parameters.
const (
	ByName     Scoping = "by name"  // the tag names says which things a call is about
	WithinList Scoping = "listed"   // it shows what is covered
	NoNames    Scoping = "nameless" // it is about nothing that has a name in a scope
	OfServer   Scoping = "global"   // no scope can be about it, so that no role with a scope allows it
)

// Listed declares that a command without names shows only what sluice.CoverFrom covers.
func Listed(c *Command) { c.Scoping = WithinList }

// Nameless declares that a command is about nothing that scopes are about.
func Nameless(c *Command) { c.Scoping = NoNames }

// Global declares that a command is about users, roles, clients, keys, the audit log or
// the server.
func Global(c *Command) { c.Scoping = OfServer }

// Missing declares what is answered if a parameter names a thing that is not there: a
// thing that is not covered is answered like it.
func Missing(missing func(ctx context.Context, parameter, name string) error) Option {
	return func(c *Command) { c.missing = missing }
}

// What the tag names of a parameter says; see Param.
const (
	namesEvent    = "event"
	namesMessage  = "message"
	namesPipeline = "pipeline"
	namesSecret   = "secret"
	namesWebhook  = "webhook" // by its token
	namesListed   = "listed"
	namesNew      = "new "
)

// checkNames finds mistakes in the declaration of what parameters name.
func (c Command) checkNames() error {
	for _, p := range c.Params {
		switch kind, isNew := strings.CutPrefix(p.Names, namesNew); kind {
		case "":
			continue
		case namesEvent, namesMessage, namesPipeline, namesSecret, namesWebhook:
			if !isNew && c.missing == nil {
				return fmt.Errorf("the parameter %s names a thing, and nothing says what is answered if it is missing", p.Name)
			}
		case namesListed:
		default:
			return fmt.Errorf("the parameter %s has the unknown tag names:%q", p.Name, p.Names)
		}
		if c.Scoping != "" {
			return fmt.Errorf("the parameter %s names a thing, and the command is declared as %s", p.Name, c.Scoping)
		}
	}
	return nil
}

// scopingOf returns the declared scoping, ByName if parameters name things, "" if nothing
// is declared.
func (c Command) scopingOf() Scoping {
	if slices.ContainsFunc(c.Params, func(p Param) bool { return p.Names != "" }) {
		return ByName
	}
	return c.Scoping
}

// covered refuses arguments that name what is not covered.
func (s Set) covered(ctx context.Context, c Command, args Args, cover sluice.Cover) error {
	for _, p := range c.Params {
		for _, arg := range args {
			if p.Names == "" || p.Names == namesListed || !p.answersTo(arg.Name) {
				continue
			}
			name, err := p.parse(arg.Value)
			text, isText := name.(string)
			if err != nil || !isText || text == "" {
				continue // the command answers it
			}
			kind, isNew := strings.CutPrefix(p.Names, namesNew)
			switch has := s.covers(ctx, cover, kind, text); {
			case has:
			case isNew:
				return sluice.NotCovered(c.Name, text).About(p.Name)
			default:
				return c.missing(ctx, p.Name, text)
			}
		}
	}
	return nil
}

func (s Set) covers(ctx context.Context, cover sluice.Cover, kind, name string) bool {
	switch kind {
	case namesEvent:
		return cover.Event(name)
	case namesMessage:
		return cover.Message(name)
	case namesWebhook:
		key := s.keyOf(ctx, name)
		return key == "" || cover.Event(key)
	}
	return cover.Name(name)
}
