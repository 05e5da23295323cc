package iam

import (
	"context"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
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
