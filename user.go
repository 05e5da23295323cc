package sluice

import (
	"context"
	"slices"
	"strings"
)

// A User is the caller of a command, with their permissions.
type User struct {
	Name        string
	ID          string // of the account; a new account of the same name has another one; empty if there is no account
	Roles       []string
	Permissions []string // command names, or patterns with a trailing *
	Address     string   // where the call comes from

	// Bounds are the permissions of others, beyond which the user may not go: those
	// of the owners of pipelines that run within another.
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

// MayCall reports whether the user may run a command. A command that changes nothing is
// also allowed by MayRead.
func (u User) MayCall(command string, readOnly bool) bool {
	return u.mayAll(func(permissions []string) bool {
		return allows(permissions, command) || readOnly && allows(permissions, MayRead)
	})
}

// ReceiveCommand is the command that gets one event. Its name is a permission by itself.
const ReceiveCommand = "event.receive"

// MayReceive reports whether the user may get events by ReceiveCommand. MayRead is not
// enough, since events show what callers have sent.
func (u User) MayReceive() bool { return u.May(ReceiveCommand) || u.May(MaySeePayload) }

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

// allows reports whether one of some permissions, which may be patterns, includes a
// permission. A pattern is included in one that reaches as far.
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

// The permissions that are not the name of a command; the name of each command
// is a permission as well.
const (
	MayRead       = "read"          // run every command that changes nothing
	MaySeeTokens  = "webhook.token" // see the whole token of a webhook, not its end alone
	MaySeePayload = "trace.payload" // see what callers have sent, and the results
	MayUseSecrets = "secret.use"    // own pipelines that use secrets
	MaySeeMetrics = "metrics.get"   // read /metrics
	MayRunAs      = "run.as:"       // followed by a username: own pipelines that switch to that user
)

// ExtraPermissions lists the permissions that are not the name of a command.
func ExtraPermissions() []string {
	return []string{MayRead, MaySeeTokens, MaySeePayload, MayUseSecrets, MaySeeMetrics, MayRunAs}
}

// NotPermitted is the error of a caller who lacks a permission.
func NotPermitted(permission string) *Error {
	return Errorf(CodeForbidden, "This needs the permission %s; ask an administrator for a role that has it.", permission)
}

// OwnerNotPermitted is the error of a pipeline whose owner lacks a permission.
func OwnerNotPermitted(permission string) *Error {
	return Errorf(CodeForbidden, "The pipeline's owner needs the permission %s.", permission)
}
