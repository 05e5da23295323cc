package sluice

import (
	"context"
	"slices"
	"time"
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
	u.Bounds = append(slices.Concat(u.Bounds, other.Bounds), Bound{
		Permissions: other.Permissions, Scoped: other.Scoped,
	})
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

// An Account is what the service stores of a user.
type Account struct {
	ID       string    `json:"id,omitempty"` // a new account of the same name has another one, see Identity
	Username string    `json:"username"`
	Password string    `json:"password"` // argon2id hash; empty: can't log in
	Roles    []string  `json:"roles"`
	Disabled bool      `json:"disabled"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Used     time.Time `json:"used,omitzero"` // last, to the minute
}

// Identity names the account, and no other that had or will have its username.
func (a *Account) Identity() string {
	if a.ID == "" { // it is from before there were ids
		return madeAt(a.Created)
	}
	return a.ID
}

// madeAt makes a name from the time when something was made.
func madeAt(created time.Time) string { return created.UTC().Format(time.RFC3339Nano) }

// A UserView is an account as commands show it: without the password.
type UserView struct {
	Username string    `json:"username" doc:"Their name."`
	Roles    []string  `json:"roles" doc:"Roles that say what they may do."`
	Disabled bool      `json:"disabled" doc:"They can not log in."`
	Created  time.Time `json:"created,omitzero" doc:"When they were created."`
	Updated  time.Time `json:"updated,omitzero" doc:"When they were last changed."`
	LastUsed time.Time `json:"lastUsed,omitzero" doc:"When they last signed in or made a call, to the minute."`
	Warnings []string  `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}
