package iam

import (
	"context"
	"strconv"
	"time"

	"sluice"
)

// role returns a role, nil if there is none. A built-in role is hardly ever stored as well,
// so it is only looked for among the roles that the store has in memory.
func (d *Directory) role(ctx context.Context, name string) (*sluice.Role, error) {
	if assumed := sluice.AssumedRoles(ctx)[name]; assumed != nil {
		return assumed, nil
	}
	if builtinRoles[name] == nil {
		return d.Roles.Get(ctx, name)
	}
	return orBuiltIn(name, d.stored(name)), nil
}

// stored returns a role that the store has in memory, nil if it has none of that name.
func (d *Directory) stored(name string) *sluice.Role {
	for _, role := range d.Roles.All() {
		if role.Name == name {
			return role
		}
	}
	return nil
}

// rights are what some roles allow together.
type rights struct {
	permissions []string
	scoped      *sluice.Grants
}

const (
	maxRights  = 10_000
	rightsLast = time.Hour
)

// keyOfRoles writes each name behind its length: a provider's group may have any name, also one
// that reads as two roles.
func keyOfRoles(names []string) string {
	var key []byte
	for _, name := range names {
		key = append(strconv.AppendInt(key, int64(len(name)), 10), ' ')
		key = append(key, name...)
	}
	return string(key)
}

// userWith returns a user with the present rights of roles. Roles that don't exist give
// none.
func (d *Directory) userWith(ctx context.Context, name, id string, roles []string) (user sluice.User, _ error) {
	known := d.rights.Load() // before looking: a change of a role replaces it
	key := keyOfRoles(roles)
	found, ok := known.Get(key, time.Now())
	assuming := sluice.AssumedRoles(ctx) != nil
	if !ok || assuming {
		var complete bool
		var err error
		if found, complete, err = d.rightsOf(ctx, roles); err != nil {
			return user, err
		}
		if complete && !assuming {
			known.Put(key, found, time.Now().Add(rightsLast))
		}
	}
	return sluice.User{Name: name, ID: id, Roles: roles, Permissions: found.permissions, Scoped: found.scoped}, nil
}

// rightsOf joins what roles allow, and reports whether all of them exist.
func (d *Directory) rightsOf(ctx context.Context, roles []string) (found rights, complete bool, err error) {
	complete = true
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
