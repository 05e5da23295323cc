package sluice

import (
	"context"
	"slices"
)

// Cover returns where the user has a permission.
func (u User) Cover(permission string) Cover { return u.CoverOf(permission, false) }

// CoverOf returns where the user may run a command. See MayCall.
func (u User) CoverOf(command string, readOnly bool) (c Cover) {
	c.self = u.Name
	add := func(permissions []string, scoped *Grants) {
		if !allowsCall(permissions, command, readOnly) {
			c.parts = append(c.parts, scoped.of(command))
		}
	}
	add(u.Permissions, u.Scoped)
	for _, b := range u.Bounds {
		add(b.Permissions, b.Scoped)
	}
	return c
}

// HintCover returns the names that hints may mention: those that a command shows to the user, or
// all of them if the user has no scopes.
func (u User) HintCover(command string) Cover {
	if !u.IsScoped() {
		return Cover{}
	}
	return u.CoverOf(command, true)
}

// IsScoped reports whether what the user may do depends on the names of things.
func (u User) IsScoped() bool {
	return u.Scoped != nil || slices.ContainsFunc(u.Bounds, func(b Bound) bool { return b.Scoped != nil })
}

type coverKey struct{}

// WithCover returns a context for a command that shows and changes only what is covered.
func WithCover(ctx context.Context, c Cover) context.Context {
	return context.WithValue(ctx, coverKey{}, c)
}

// CoverFrom returns what the command of ctx may show and change.
func CoverFrom(ctx context.Context) Cover {
	if !UserFrom(ctx).IsScoped() {
		return Cover{}
	}
	if c, ok := ctx.Value(coverKey{}).(Cover); ok {
		return c
	}
	return Cover{parts: []map[string]bool{nil}} // no command asked for it
}

// UsingSecrets returns a context in which only the secrets are there that a user may use.
func UsingSecrets(ctx context.Context, u User) context.Context {
	if !u.IsScoped() {
		return Unscoped(ctx)
	}
	return WithCover(WithUser(ctx, u), u.Cover(MayUseSecrets))
}

// Unscoped returns a context in which everything is covered, for what a command needs and
// does not show.
func Unscoped(ctx context.Context) context.Context {
	if !UserFrom(ctx).IsScoped() {
		return ctx
	}
	return WithUser(ctx, User{Name: UserFrom(ctx).Name})
}
