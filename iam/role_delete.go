package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

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
