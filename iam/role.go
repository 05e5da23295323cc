package iam

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/spelling"
)

type rolePutParams struct {
	Role        string   `json:"role" required:"true" audit:"yes" doc:"Name of the role: 1 to 63 lower-case letters, digits, dots, _ and -, beginning with a letter or digit."`
	Permissions []string `json:"permissions" required:"true" audit:"yes" doc:"What the role allows: names of commands, patterns with a trailing *, or read for all that changes nothing."`
	DryRun      bool     `json:"dryRun" doc:"Only check: the answer is the role as it would be, and nothing is stored."`
}

// A rolePut is a stored role, with warnings.
type rolePut struct {
	Role        string   `json:"role"`
	Permissions []string `json:"permissions"`
	Warnings    []string `json:"warnings,omitempty"`
}

func rolePutCommand(d *Directory) command.Command {
	return command.New("iam.role.put", "Create a role, or change the permissions of the one of that name. The change counts at once, also for tokens in use.",
		func(ctx context.Context, p rolePutParams) (rolePut, error) {
			if p.Role == sluice.AdminName {
				return rolePut{}, builtin("The role " + sluice.AdminName)
			}
			if !validRole.MatchString(p.Role) {
				return rolePut{}, sluice.InvalidParameter("role", "The parameter role must be 1 to 63 lower-case letters, digits, dots, _ and -, beginning with a letter or digit.")
			}
			for _, permission := range p.Permissions {
				if !permissions.MatchString(permission) {
					return rolePut{}, sluice.InvalidParameter("permissions", "%q is not a permission: a command's name, or a pattern with one * at its end.", permission)
				}
			}
			caller := sluice.UserFrom(ctx)
			if err := mayGive(caller, p.Permissions); err != nil {
				return rolePut{}, err
			}
			if err := d.mayGrant(ctx, []string{p.Role}); err != nil {
				return rolePut{}, err
			}
			role := &sluice.Role{Name: p.Role, Permissions: distinct(p.Permissions)}
			if !p.DryRun {
				if _, err := d.Roles.Change(ctx, p.Role, func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error) { return role, nil }); err != nil {
					return rolePut{}, err
				}
			}
			return rolePut{role.Name, role.Permissions, d.emptyPermissions(role.Permissions)}, nil
		})
}

// emptyPermissions warns of permissions that allow nothing, such as mistyped
// ones.
func (d *Directory) emptyPermissions(permissions []string) (warnings []string) {
	names := append(d.CommandNames(), sluice.ExtraPermissions()...)
	for _, permission := range permissions {
		if !allowsAny(permission, names) {
			warnings = append(warnings, "The permission "+permission+" allows nothing: there is no such command.")
		}
	}
	return warnings
}

func allowsAny(permission string, names []string) bool {
	if strings.HasPrefix(permission, sluice.MayRunAs) {
		return true // of any user, even one who does not exist yet
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return sluice.User{Permissions: []string{permission}}.May(name)
	})
}

type roleGetParams struct {
	Role   string `json:"role" doc:"Name of the one role to show. Without it all are listed."`
	Search string `json:"search" doc:"List only roles whose name contains this."`
	Limit  int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After  string `json:"after" doc:"List only roles whose name comes after this one."`
}

func roleGetCommand(d *Directory) command.Command {
	return command.New("iam.role.get", "List the roles with their permissions, or show the one of that name.",
		func(ctx context.Context, p roleGetParams) (any, error) {
			if p.Role != "" {
				role, err := d.role(ctx, p.Role)
				if err != nil {
					return nil, err
				}
				if role == nil {
					return nil, notFound(sluice.CodeRoleNotFound, "role of that name")
				}
				return d.shown(*role), nil
			}
			byName := make(map[string]sluice.Role)
			for name, permissions := range builtinRoles {
				byName[name] = sluice.Role{Name: name, Permissions: permissions}
			}
			for _, role := range d.Roles.All() {
				byName[role.Name] = *role
			}
			roles := make([]roleView, 0, len(byName))
			for _, role := range byName {
				roles = append(roles, d.shown(role))
			}
			return command.PageOf(roles, func(r roleView) string { return r.Name }, p.Search, p.After, p.Limit), nil
		}, command.ReadOnly, command.Answers([]roleView{}, roleView{}))
}

// A roleView is a role, and whether it is built in.
type roleView struct {
	sluice.Role

	BuiltIn string `json:"builtIn,omitempty"` // unchanged or changed; empty for a role that is not built in
}

func (d *Directory) shown(role sluice.Role) roleView {
	if builtinRoles[role.Name] == nil {
		return roleView{Role: role}
	}
	if slices.ContainsFunc(d.Roles.All(), func(stored *sluice.Role) bool { return stored.Name == role.Name }) {
		return roleView{role, "changed"}
	}
	return roleView{role, "unchanged"}
}

type roleDeleteParams struct {
	Role string `json:"role" required:"true" audit:"yes" doc:"Name of the role to delete."`
}

type roleDeleted struct {
	Role    string `json:"role"`
	Deleted bool   `json:"deleted"`
}

func roleDeleteCommand(d *Directory) command.Command {
	return command.New("iam.role.delete", "Delete a role: users who have it lose its permissions. A built-in role gets its original permissions back.",
		func(ctx context.Context, p roleDeleteParams) (roleDeleted, error) {
			if p.Role == sluice.AdminName {
				return roleDeleted{}, builtin("The role " + sluice.AdminName)
			}
			if err := d.mayGrant(ctx, []string{p.Role}); err != nil {
				return roleDeleted{}, err
			}
			if err := mayGive(sluice.UserFrom(ctx), builtinRoles[p.Role]); err != nil {
				return roleDeleted{}, err
			}
			_, err := d.Roles.Change(ctx, p.Role, func(before *sluice.Role, _ map[string]*sluice.Role) (*sluice.Role, error) {
				if before == nil {
					return nil, notFound(sluice.CodeRoleNotFound, "role of that name that could be deleted")
				}
				return nil, nil
			})
			return roleDeleted{p.Role, err == nil}, err
		})
}

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

// role returns a role, nil if there is none. Every run of a pipeline has a built-in role,
// which is hardly ever stored as well. So it is only looked for among the roles that the
// store has in memory.
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

// userWith returns a user with the present permissions of roles. Roles that don't exist
// give none.
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

// mayGrant refuses to give roles, or to change somebody with roles, that allow more than
// the caller may. Otherwise users who may edit users could make themselves administrators.
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
