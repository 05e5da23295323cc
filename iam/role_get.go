package iam

import (
	"context"
	"slices"

	"sluice"
	"sluice/command"
)

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

// A roleView is a role with where it comes from.
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
