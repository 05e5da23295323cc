package command

import (
	"context"

	"sluice"
)

// Call runs a command: it checks the permission of the user of ctx and whether their
// scopes cover what the call is about, checks the arguments, and enters the call in the
// audit log. Every caller goes through it.
func (s Set) Call(ctx context.Context, c Command, args Args) (any, error) {
	user := sluice.UserFrom(ctx)
	err := s.Covered(ctx, c, user, args)
	if !c.Allows(user) {
		err = sluice.NotPermitted(c.Name)
	}
	if err != nil {
		if !c.ReadOnly && !c.Traffic || sluice.Forbidden.Is(err) {
			s.record(ctx, c, s.target(ctx, c, args), err)
		}
		return nil, err
	}
	if c.InRun && sluice.RunFrom(ctx) == nil {
		return nil, sluice.CodeNotInAPipeline.Errorf("%s is a step of pipelines; it does nothing by itself.",
			c.Name)
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

// Covered refuses a call about things outside of a user's scopes, as if they were not there. A
// call that would make such a thing is Forbidden, whether it is there or not.
func (s Set) Covered(ctx context.Context, c Command, user sluice.User, args Args) error {
	if c.Scoping != ByName || !user.IsScoped() {
		return nil
	}
	cover := user.CoverOf(c.Name, c.ReadOnly)
	return s.covered(sluice.WithCover(ctx, cover), c, args, cover)
}

// Allows reports whether a user may run the command.
func (c Command) Allows(user sluice.User) bool { return user.MayCall(c.Name, c.ReadOnly) }
