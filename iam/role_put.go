package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

type rolePutParams struct {
	Role        string   `json:"role" required:"true" audit:"yes" doc:"Name of the role: lower-case letters, digits and . _ -"`
	Permissions []string `json:"permissions" required:"true" audit:"yes" doc:"What the role allows: names of commands, patterns with a trailing *, or read for all that changes nothing."`
}

func rolePutCommand(d *Directory) command.Command {
	return command.New("iam.role.put", "Create a role, or give the one of that name other permissions. It counts at once, also for live tokens.",
		func(ctx context.Context, p rolePutParams) (sluice.Role, error) {
			if p.Role == AdminName {
				return sluice.Role{}, builtin("The role " + AdminName)
			}
			if !validRole.MatchString(p.Role) {
				return sluice.Role{}, invalid("role", "The parameter role must be 1 to 63 lower-case letters, digits and . _ -, starting with a letter or digit.")
			}
			for _, permission := range p.Permissions {
				if !permissions.MatchString(permission) {
					return sluice.Role{}, invalid("permissions", "%q is not a permission: a command's name, or a pattern with one * at its end.", permission)
				}
			}
			caller := sluice.UserFrom(ctx)
			if err := mayGive(caller, p.Permissions); err != nil {
				return sluice.Role{}, err
			}
			if err := d.mayGrant(ctx, []string{p.Role}); err != nil {
				return sluice.Role{}, err
			}
			role, err := d.Roles.Change(ctx, p.Role, func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error) {
				return &sluice.Role{Name: p.Role, Permissions: distinct(p.Permissions)}, nil
			})
			if err != nil {
				return sluice.Role{}, err
			}
			return *role, nil
		})
}
