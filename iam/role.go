package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

type roleGetParams struct {
	Role string `json:"role" doc:"Name of the one role to show. Without it all are listed."`

	command.Filter `things:"roles" by:"name"`
}

func (d *Directory) getRole(ctx context.Context, p roleGetParams) (any, error) {
	if p.Role == "" {
		return command.PageOf(d.roles(), func(r *sluice.Role) string { return r.Name }, d.showRole, p.Filter), nil
	}
	role, err := d.role(ctx, p.Role)
	if err == nil && role == nil {
		err = sluice.CodeRoleNotFound.Errorf("There is no role %s; %s", sluice.Quote(p.Role),
			d.meantRole(p.Role))
	}
	if err != nil {
		return nil, err
	}
	return d.showRole(role), nil
}

// roles returns the stored roles, and the built-in ones that are not stored.
func (d *Directory) roles() []*sluice.Role {
	roles := d.Roles.All()
	for name := range builtinRoles {
		if d.stored(name) == nil {
			roles = append(roles, orBuiltIn(name, nil))
		}
	}
	return roles
}

func (d *Directory) showRole(role *sluice.Role) sluice.RoleView {
	view := sluice.RoleView{Role: *role}
	switch {
	case builtinRoles[role.Name] == nil:
	case d.stored(role.Name) != nil:
		view.BuiltIn = "changed"
	default:
		view.BuiltIn = "unchanged"
	}
	return view
}

type roleDeleteParams struct {
	Role string `json:"role" required:"true" audit:"yes" doc:"Name of the role to delete."`
}

func (d *Directory) deleteRole(ctx context.Context, p roleDeleteParams) (string, error) {
	if p.Role == sluice.AdminName {
		return "", builtin("The role " + sluice.AdminName)
	}
	missing := sluice.CodeRoleNotFound.Errorf("There is no role %s; %s", sluice.Quote(p.Role),
		d.meantRole(p.Role))
	if builtinRoles[p.Role] != nil {
		missing = missing.Saying("The role " + p.Role +
			" is built in and was not changed: there is nothing to delete.")
	}
	caller := sluice.UserFrom(ctx)
	if err := mayGive(caller, sluice.Role{Permissions: builtinRoles[p.Role]}); err != nil {
		return "", err
	}
	_, err := sluice.Replace(ctx, d.Roles, p.Role, func(before *sluice.Role) (*sluice.Role, error) {
		if before == nil {
			return nil, missing
		}
		return nil, mayGive(caller, *before)
	})
	return p.Role, err
}
