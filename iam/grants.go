package iam

import (
	"context"
	"maps"
	"slices"

	"sluice"
	"sluice/spelling"
)

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
			return sluice.CodeForbidden.Errorf("This reaches further than your own permissions: you lack %s.",
				p)
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
