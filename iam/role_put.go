package iam

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"sluice"
)

type rolePutParams struct {
	Role        string   `json:"role" required:"true" audit:"yes" doc:"Name of the role: 1 to 63 lower-case letters, digits, dots, _ and -, beginning with a letter or digit."`
	Permissions []string `json:"permissions" audit:"yes" doc:"What the role allows: names of commands, patterns with a trailing *, or read for all that changes nothing. A new role needs this or like."`
	Like        string   `json:"like" audit:"yes" doc:"A role whose permissions it gets, such as developer; with a scope, without those that can't be scoped."`
	Scope       []string `json:"scope" audit:"yes" doc:"What names must begin with. With partner the role reaches the event keys webhook.partner and webhook.partner.…, and the messages, pipelines and secrets partner and partner.…. An empty list: everything."`
	DryRun      bool     `json:"dryRun" doc:"Only check: the answer is the role as it would be, and nothing is stored."`
}

// A rolePut is a stored role, with warnings.
type rolePut struct {
	sluice.Role

	Warnings []string `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}

func (d *Directory) putRole(ctx context.Context, p rolePutParams) (put rolePut, _ error) {
	if err := p.check(); err != nil {
		return put, err
	}
	model, err := d.model(ctx, p.Like)
	if err != nil {
		return put, err
	}
	role, err := changed(ctx, d.Roles, p.Role, p.DryRun,
		func(before *sluice.Role) (*sluice.Role, error) {
			return d.editRole(sluice.UserFrom(ctx), p, orBuiltIn(p.Role, before), model)
		})
	if err != nil {
		return put, err
	}
	return rolePut{*role, d.emptyPermissions(p.Permissions)}, nil
}

var validScope = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// check refuses what no role can have.
func (p *rolePutParams) check() error {
	switch {
	case p.Role == sluice.AdminName:
		return builtin("The role " + sluice.AdminName)
	case !validRole.MatchString(p.Role):
		return sluice.InvalidParameter("role", "The parameter role must be 1 to 63 lower-case letters, digits, dots, "+
			"_ and -, beginning with a letter or digit.")
	case p.Like != "" && p.Permissions != nil:
		return sluice.InvalidParameter("like",
			"Give like or permissions, not both: like gives the permissions of another role.")
	}
	for _, permission := range p.Permissions {
		if !permissions.MatchString(permission) {
			return sluice.InvalidParameter("permissions",
				"%q is not a permission: a command's name, or a pattern with one * at its end.", permission)
		}
	}
	for _, prefix := range p.Scope {
		first, rest, _ := strings.Cut(prefix, ".")
		switch {
		case first == "webhook" && rest != "":
			return sluice.InvalidParameter("scope",
				"A scope is written without webhook.: give %s, which covers the event keys %s and %s.….",
				sluice.Quote(rest), sluice.Quote(prefix), sluice.Quote(prefix))
		case first == "webhook", first == "svc", first == "sluice":
			return sluice.InvalidParameter("scope", "A scope can't begin with %s, which all event keys, messages or "+
				"alerts begin with; give the groups that follow, such as partner.", first)
		case !validScope.MatchString(prefix) || len(prefix) > maxScope:
			return sluice.InvalidParameter("scope",
				"%q is no scope: give what names begin with, such as partner or partner.orders, without * and #.",
				prefix)
		}
	}
	return nil
}

const maxScope = 128

// model returns the role that another one gets its permissions from, nil without a name.
func (d *Directory) model(ctx context.Context, name string) (*sluice.Role, error) {
	if name == "" {
		return nil, nil
	}
	model, err := d.role(ctx, name)
	if err == nil && model == nil {
		err = sluice.InvalidParameter("like", "There is no role of the name %q; %s", name, d.meantRole(name))
	}
	return model, err
}

// editRole returns a role with the given parameters set, if the caller may give what it allows
// before and then. before is nil for a new role.
func (d *Directory) editRole(caller sluice.User, p rolePutParams, before, model *sluice.Role) (*sluice.Role, error) {
	role := &sluice.Role{Name: p.Role}
	if before != nil {
		if err := mayGive(caller, *before); err != nil {
			return nil, err
		}
		*role = *before
	}
	if p.Scope != nil {
		role.Scope = distinct(p.Scope)
	}
	switch {
	case model != nil:
		role.Permissions = slices.DeleteFunc(distinct(model.Permissions), func(permission string) bool {
			return len(role.Scope) > 0 && d.isGlobal(permission)
		})
		if len(role.Permissions) == 0 {
			return nil, sluice.InvalidParameter("like", "Nothing that the role %s allows can have a scope; give the "+
				"permissions, or take another role such as developer.", p.Like)
		}
	case p.Permissions != nil:
		role.Permissions = distinct(p.Permissions)
	case before == nil:
		return nil, sluice.CodeParameterMissing.Errorf(
			"A new role needs permissions, or like with the name of a role that has them.").About("permissions")
	}
	for _, permission := range role.Permissions {
		if len(role.Scope) > 0 && d.isGlobal(permission) {
			return nil, sluice.InvalidParameter("scope", "The permission %s can't have a scope: it is about the "+
				"whole server, or includes what is. Leave it out, or put it into a role without a scope.", permission)
		}
	}
	return role, mayGive(caller, *role)
}

// isGlobal reports whether a permission includes what no scope can be about: users, roles,
// clients, keys, the audit log, the server, its metrics, and becoming an administrator.
func (d *Directory) isGlobal(permission string) bool {
	return allowsAny(permission,
		append(d.GlobalCommands(), sluice.MayRead, sluice.MaySeeMetrics, sluice.MayRunAs+sluice.AdminName))
}

// emptyPermissions warns of permissions that allow nothing, such as mistyped
// ones.
func (d *Directory) emptyPermissions(permissions []string) (warnings []string) {
	names := append(d.CommandNames(), sluice.ExtraPermissions()...)
	for _, permission := range permissions {
		if !strings.HasPrefix(permission, sluice.MayRunAs) && !allowsAny(permission, names) { // a user may come later
			warnings = append(warnings, "The permission "+permission+" allows nothing: there is no such command.")
		}
	}
	return warnings
}

func allowsAny(permission string, names []string) bool {
	return slices.ContainsFunc(names,
		func(name string) bool { return sluice.User{Permissions: []string{permission}}.May(name) })
}
