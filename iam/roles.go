package iam

import (
	"context"
	"maps"
	"slices"

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
		"webhook.*", "pipeline.*", "event.*", "message.*", "result.*", "trace.*", "deadletter.*", "secret.*",
		"quarantine.*", "provider.get",
		"convert.*", "log", "set", "assert", "fail", "exit", "wait", "http.request", "http.forward", "crypto.*",
		"iam.whoami", "iam.password.set", "iam.run.as", "iam.authorize", "server.info", "server.stats",
	},
	"viewer":  viewing,
	"support": append(slices.Clone(viewing), sluice.MaySeePayload, "event.replay", "deadletter.*", "quarantine.*"),
	"anonymous": {
		"log", "set", "assert", "fail", "exit", "wait", "convert.*", "crypto.*",
		"event.receive", "iam.whoami", "iam.run.as", "iam.authorize",
	},
}

// viewing is what shows webhooks, pipelines, calls and figures, without what
// callers have sent: and no users, clients, secrets, nor the audit log.
var viewing = []string{
	"webhook.get", "webhook.stats", "provider.get", "pipeline.get", "pipeline.versions", "pipeline.lint", "pipeline.test",
	"trace.get", "deadletter.get", "deadletter.groups", "quarantine.get", "server.info", "server.stats",
	"convert.*", "crypto.*", "iam.whoami", "iam.password.set",
}

// role returns a role, nil if there is none. One that is built in is hardly ever
// stored as well, and every run of a pipeline has one: so the store is not asked
// to look further for it than among the roles it knows.
func (d *Directory) role(ctx context.Context, name string) (*sluice.Role, error) {
	permissions, builtin := builtinRoles[name]
	if !builtin {
		return d.Roles.Get(ctx, name)
	}
	for _, stored := range d.Roles.All() {
		if stored.Name == name {
			return stored, nil
		}
	}
	return &sluice.Role{Name: name, Permissions: permissions}, nil
}

// userWith returns a user with the permissions that roles have by now. Roles that
// don't exist give none.
func (d *Directory) userWith(ctx context.Context, name, id string, roles []string) (sluice.User, error) {
	user := sluice.User{Name: name, ID: id, Roles: roles}
	for _, name := range roles {
		role, err := d.role(ctx, name)
		if err != nil {
			return sluice.User{}, err
		}
		if role != nil {
			user.Permissions = append(user.Permissions, role.Permissions...)
		}
	}
	return user, nil
}

// mayGrant refuses to hand out, or to lay hands on, more than the caller has:
// otherwise users who may edit users could make themselves administrators.
func (d *Directory) mayGrant(ctx context.Context, roles []string) error {
	granted, err := d.userWith(ctx, "", "", roles)
	if err != nil {
		return err
	}
	return mayGive(sluice.UserFrom(ctx), granted.Permissions)
}

func mayGive(caller sluice.User, permissions []string) error {
	for _, p := range permissions {
		if !caller.May(p) {
			return sluice.Errorf(sluice.CodeForbidden, "This reaches further than your own permissions: you lack %s.", p)
		}
	}
	return nil
}

// meantRole says which role may be meant by a name that none has.
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
