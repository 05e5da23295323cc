package sluice

import (
	"context"
	"strings"
)

// A User is the caller of a command, with their permissions.
type User struct {
	Name        string
	Roles       []string
	Permissions []string // command names, or patterns with a trailing *
	Address     string   // where the call comes from
}

// Names of users that the service itself knows.
const (
	AdminName     = "admin"         // the first user, and the role that may do everything
	AnonymousName = "anonymousUser" // the user of runs that an event has started
)

// May reports whether the user has a permission.
func (u User) May(permission string) bool {
	for _, p := range u.Permissions {
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
