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
	for _, stored := range d.Roles.All() {
		if stored.Name == name {
			return stored, nil
		}
	}
	return orBuiltIn(name, nil), nil
}

// rights are what some roles allow together.
type rights struct {
	roles       []string // kept, so that no other list comes to be in the same place
	permissions []string
	scoped      *sluice.Grants
}

const (
	maxRights  = 10_000
	rightsLast = time.Hour
)

// A rolesKey names a list of roles: by the names, or a long list, which a record holds, by
// where it is. Writing out a thousand names would take longer than most calls.
type rolesKey struct {
	names string
	first *string
	count int
}

func (d *Directory) keyOf(roles []string) rolesKey {
	const few = 8
	if len(roles) <= few || d.External { // a provider's claim is another list at each call
		return rolesKey{names: keyOfNames(roles)}
	}
	return rolesKey{first: &roles[0], count: len(roles)}
}

// keyOfNames writes each name behind its length: a provider's group may have any name, also one
// that reads as two roles.
func keyOfNames(names []string) string {
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
	key := d.keyOf(roles)
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
	complete, found.roles = true, roles
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
