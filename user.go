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
	Permissions []string // of roles without a scope: command names, or patterns with a trailing *
	Scoped      *Grants  // of roles with a scope; nil: there are none
	Address     string   // where the call comes from

	// Bounds are the rights of others, beyond which the user may not go: those of the
	// owners of pipelines.
	Bounds []Bound
}

// A Bound is what somebody else may do.
type Bound struct {
	Permissions []string
	Scoped      *Grants
	OnNames     bool // it bounds only what is done to things that have names
}

// Names of users and roles that the service itself knows.
const (
	AdminName     = "admin"         // the first user, and the role that may do everything
	AnonymousName = "anonymousUser" // the user of runs that an event has started
	AnonymousRole = "anonymous"     // the role of that user
)

// May reports whether the user has a permission; see Cover for where.
func (u User) May(permission string) bool { return u.MayCall(permission, false) }

// MayCall reports whether the user may run a command. A command that changes nothing is
// also allowed by MayRead.
func (u User) MayCall(command string, readOnly bool) bool {
	may := func(permissions []string, scoped *Grants) bool {
		return allowsCall(permissions, command, readOnly) || scoped.of(command) != nil
	}
	return may(u.Permissions, u.Scoped) &&
		!slices.ContainsFunc(u.Bounds, func(b Bound) bool { return !b.OnNames && !may(b.Permissions, b.Scoped) })
}

func allowsCall(permissions []string, command string, readOnly bool) bool {
	return allows(permissions, command) || readOnly && allows(permissions, MayRead)
}

// AllPermissions returns the permissions that the user has somewhere.
func (u User) AllPermissions() []string {
	if u.Scoped == nil {
		return u.Permissions
	}
	all := slices.Clone(u.Permissions)
	for _, grant := range u.Scoped.All {
		all = append(all, grant.Permissions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ReceiveCommand is the command that gets one event. Its name is a permission by itself.
const ReceiveCommand = "event.receive"

// MayReceive reports whether the user may get events of a key by ReceiveCommand. MayRead
// is not enough, since events show what callers have sent.
func (u User) MayReceive(eventKey string) bool {
	return u.Cover(ReceiveCommand).Event(eventKey) || u.Cover(MaySeePayload).Event(eventKey)
}

// Bounded reports whether the bounds of the user take away anything.
func (u User) Bounded() bool {
	return slices.ContainsFunc(u.AllPermissions(), func(p string) bool { return !u.May(p) }) ||
		slices.ContainsFunc(u.Bounds, func(b Bound) bool { return b.OnNames })
}

// Within returns the user with the rights of another as a further bound.
func (u User) Within(other User) User {
	u.Bounds = append(slices.Concat(u.Bounds, other.Bounds), Bound{Permissions: other.Permissions, Scoped: other.Scoped})
	return u
}

// WithinScopes returns the user with the scopes of another as a further bound: nothing
// outside of them can be reached. One without scopes is no bound.
func (u User) WithinScopes(other User) User {
	if other.Scoped != nil {
		u.Bounds = append(slices.Clone(u.Bounds), Bound{other.Permissions, other.Scoped, true})
	}
	return u
}

// EraseCommand is the command that erases calls. Only * and its own name allow it.
const EraseCommand = "event.erase"

// allows reports whether one of some permissions, which may be patterns, includes a
// permission. A pattern is included in one that reaches as far.
func allows(permissions []string, permission string) bool {
	return slices.ContainsFunc(permissions, func(p string) bool {
		prefix, isPattern := strings.CutSuffix(p, "*")
		return isPattern && strings.HasPrefix(permission, prefix) && (permission != EraseCommand || prefix == "") || p == permission
	})
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
