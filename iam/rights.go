package iam

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/spelling"
)

// Names of clients.
const (
	clientName   = "sluice"  // the public client of the command line and of people
	clientPrefix = "client:" // before the id of a client that calls for itself: no user has such a name
)

// builtinRoles are there from the start. All but admin can be redefined.
var builtinRoles = map[string][]string{
	sluice.AdminName: {"*"},
	"developer": {
		"webhook.*", "pipeline.*", "event.get", "event.listen", "event.receive", "event.send", "event.replay", "event.retry", "message.*", "result.*", "trace.*", "deadletter.*", "secret.*",
		"quarantine.*", "provider.get", "alert.*",
		"convert.*", "log", "set", "assert", "fail", "exit", "wait", "http.request", "http.forward", "mail.send", "crypto.*",
		"iam.whoami", "iam.password.set", "iam.run.as", "iam.authorize", "server.info", "server.stats", "server.closed",
	},
	"viewer":  viewing,
	"support": append(slices.Clone(viewing), sluice.MaySeePayload, "event.replay", "event.retry", "deadletter.*", "quarantine.*", "alert.mute"),
	sluice.AnonymousRole: {
		"log", "set", "assert", "fail", "exit", "wait", "convert.*", "crypto.*",
		sluice.ReceiveCommand, "iam.whoami", "iam.run.as", "iam.authorize",
	},
}

// viewing shows webhooks, pipelines, calls and figures, but no payloads, users, clients,
// secrets or audit log.
var viewing = []string{
	"webhook.get", "webhook.stats", "provider.get", "pipeline.get", "pipeline.stats", "pipeline.versions", "pipeline.lint", "pipeline.test",
	"trace.get", "deadletter.get", "deadletter.groups", "quarantine.get", "alert.get", "server.info", "server.stats", "server.closed",
	"convert.*", "crypto.*", "iam.whoami", "iam.password.set",
}

// role returns a role, nil if there is none. A built-in role is hardly ever stored as well,
// so it is only looked for among the roles that the store has in memory.
func (d *Directory) role(ctx context.Context, name string) (*sluice.Role, error) {
	if builtinRoles[name] == nil {
		return d.Roles.Get(ctx, name)
	}
	for _, stored := range d.Roles.All() {
		if stored.Name == name {
			return stored, nil
		}
	}
	return orBuiltIn(name, nil), nil
}

// orBuiltIn returns a stored role, or the built-in one of that name if none is stored.
func orBuiltIn(name string, stored *sluice.Role) *sluice.Role {
	if permissions := builtinRoles[name]; stored == nil && permissions != nil {
		return &sluice.Role{Name: name, Permissions: permissions}
	}
	return stored
}

// rights are what some roles allow together.
type rights struct {
	roles       []string // kept, so that no other list comes to be in the same place
	permissions []string
	scoped      *sluice.Grants
}

const (
	maxRights  = 10_000
	rightsLast = time.Hour
)

// A rolesKey names a list of roles: by the names, or a long list, which a record holds, by
// where it is. Writing out a thousand names would take longer than most calls.
type rolesKey struct {
	names string
	first *string
	count int
}

func (d *Directory) keyOf(roles []string) rolesKey {
	const few = 8
	if len(roles) <= few || d.External { // a provider's claim is another list at each call
		return rolesKey{names: strings.Join(roles, " ")}
	}
	return rolesKey{first: &roles[0], count: len(roles)}
}

// userWith returns a user with the present rights of roles. Roles that don't exist give
// none.
func (d *Directory) userWith(ctx context.Context, name, id string, roles []string) (sluice.User, error) {
	known := d.rights.Load() // before looking: a change of a role replaces it
	key := d.keyOf(roles)
	found, ok := known.Get(key, time.Now())
	if !ok {
		var complete bool
		var err error
		if found, complete, err = d.rightsOf(ctx, roles); err != nil {
			return sluice.User{}, err
		}
		if complete {
			known.Put(key, found, time.Now().Add(rightsLast))
		}
	}
	return sluice.User{Name: name, ID: id, Roles: roles, Permissions: found.permissions, Scoped: found.scoped}, nil
}

// rightsOf joins what roles allow, and reports whether all of them exist.
func (d *Directory) rightsOf(ctx context.Context, roles []string) (found rights, complete bool, err error) {
	complete, found.roles = true, roles
	var grants []sluice.Grant
	for _, name := range roles {
		role, err := d.role(ctx, name)
		switch {
		case err != nil:
			return rights{}, false, err
		case role == nil:
			complete = false
		case len(role.Scope) > 0:
			grants = append(grants, sluice.Grant{Permissions: role.Permissions, Scope: role.Scope})
		default:
			found.permissions = append(found.permissions, role.Permissions...)
		}
	}
	if len(roles) > 1 {
		found.permissions = distinct(found.permissions)
	}
	if grants != nil {
		found.scoped = &sluice.Grants{All: grants}
	}
	return found, complete, nil
}

// mayGrant refuses to give roles, or to change somebody with roles, that allow more than
// the caller may. Otherwise users who may edit users could make themselves administrators.
func (d *Directory) mayGrant(ctx context.Context, roles []string) error {
	for _, name := range roles {
		role, err := d.role(ctx, name)
		if err == nil && role != nil {
			err = mayGive(sluice.UserFrom(ctx), *role)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func mayGive(caller sluice.User, role sluice.Role) error {
	for _, p := range role.Permissions {
		cover := caller.Cover(p)
		outside := !cover.Whole()
		if len(role.Scope) > 0 {
			outside = slices.ContainsFunc(role.Scope, func(prefix string) bool { return !cover.Name(prefix) })
		}
		if outside {
			return sluice.Errorf(sluice.CodeForbidden, "This reaches further than your own permissions: you lack %s.", p)
		}
	}
	return nil
}

// meantRole suggests a role for a name that no role has.
func (d *Directory) meantRole(name string) string {
	names := slices.Collect(maps.Keys(builtinRoles))
	for _, role := range d.Roles.All() {
		names = append(names, role.Name)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "iam.role.get lists those there are."
}

// checkRoles refuses names of roles that don't exist.
func (d *Directory) checkRoles(ctx context.Context, roles []string) error {
	for _, name := range roles {
		role, err := d.role(ctx, name)
		if err != nil {
			return err
		}
		if role == nil {
			return sluice.InvalidParameter("roles", "There is no role of the name %q; %s", name, d.meantRole(name))
		}
	}
	return nil
}

func isAdmin(a *sluice.Account) bool {
	return !a.Disabled && a.Password != "" && slices.Contains(a.Roles, sluice.AdminName)
}

// keepsAdmin refuses a change after which nobody could administer the service.
func keepsAdmin(before, after *sluice.Account, all map[string]*sluice.Account) error {
	if before == nil || !isAdmin(before) || after != nil && isAdmin(after) {
		return nil
	}
	for _, other := range all {
		if other.Username != before.Username && isAdmin(other) {
			return nil
		}
	}
	return sluice.Errorf(sluice.CodeLastAdmin, "This is the last administrator who can log in; make another one first.")
}
