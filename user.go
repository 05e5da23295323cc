package sluice

import (
	"context"
	"slices"
	"strings"
)

// A User is the caller of a command, with their permissions.
type User struct {
	Name        string
	ID          string // of the account: one of the same name that is made anew has another; empty if there is none
	Roles       []string
	Permissions []string // command names, or patterns with a trailing *
	Address     string   // where the call comes from

	// Bounds are the permissions of others, none of which the user may go
	// beyond: of the owners of pipelines that run within another.
	Bounds [][]string
}

// Names of users and roles that the service itself knows.
const (
	AdminName     = "admin"         // the first user, and the role that may do everything
	AnonymousName = "anonymousUser" // the user of runs that an event has started
	AnonymousRole = "anonymous"     // the role of that user
)

// May reports whether the user has a permission.
func (u User) May(permission string) bool {
	return u.mayAll(func(permissions []string) bool { return allows(permissions, permission) })
}

// MayCall reports whether the user may run a command, which changes something or
// not.
func (u User) MayCall(command string, readOnly bool) bool {
	return u.mayAll(func(permissions []string) bool {
		return allows(permissions, command) || readOnly && allows(permissions, MayRead)
	})
}

// Bounded reports whether the bounds of the user take away any permission.
func (u User) Bounded() bool {
	for _, p := range u.Permissions {
		if !u.May(p) {
			return true
		}
	}
	return false
}

// Within returns the user with the permissions of another as a further bound.
func (u User) Within(other User) User {
	u.Bounds = append(slices.Concat(u.Bounds, other.Bounds), other.Permissions)
	return u
}

// mayAll reports whether the permissions of the user allow something, and all
// bounds do.
func (u User) mayAll(allowed func(permissions []string) bool) bool {
	return allowed(u.Permissions) && !slices.ContainsFunc(u.Bounds, func(bound []string) bool { return !allowed(bound) })
}

// allows reports whether a permission is among some, which may be patterns. A
// pattern is allowed by one that reaches as far.
func allows(permissions []string, permission string) bool {
	for _, p := range permissions {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(permission, prefix) || p == permission {
			return true
		}
	}
	return false
}

type userKey struct{}

// WithUser returns a context in which u makes the calls.
func WithUser(ctx context.Context, u User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// UserFrom returns the user who makes the calls of ctx. Without one it is a
// user who may do nothing.
func UserFrom(ctx context.Context) User {
	u, _ := ctx.Value(userKey{}).(User)
	return u
}
