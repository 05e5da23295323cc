package sluice

import (
	"context"
	"encoding/json"
	"sync"

	"sluice/value"
)

// A Role is a named set of permissions: everywhere, or on what its scope covers.
type Role struct {
	Name        string   `json:"role" doc:"Its name."`
	Permissions []string `json:"permissions" doc:"Names of commands, or their beginnings with a * behind."`
	Scope       []string `json:"scope,omitempty" doc:"Prefixes of the names that it is for; none: everything."`
}

type assumedKey struct{}

// AssumingRoles returns a context in which some roles, by name, are as given: for checks of what
// would be allowed if they were stored.
func AssumingRoles(ctx context.Context, roles map[string]any) (context.Context, error) {
	text, err := value.Marshal(roles)
	assumed := make(map[string]*Role, len(roles))
	if err == nil {
		err = json.Unmarshal(text, &assumed)
	}
	if err != nil {
		return nil, InvalidParameter("roles", "The parameter roles must have an object with permissions and scope, "+
			"which are lists, for each name of a role.")
	}
	return context.WithValue(ctx, assumedKey{}, assumed), nil
}

// AssumedRoles returns what AssumingRoles was given, by name.
func AssumedRoles(ctx context.Context) map[string]*Role {
	assumed, _ := ctx.Value(assumedKey{}).(map[string]*Role)
	return assumed
}

// A RoleView is a role as its commands show it.
type RoleView struct {
	Role

	BuiltIn string `json:"builtIn,omitempty" doc:"unchanged or changed, if the role came with the server."`
}

// A Grant is what a role with a scope allows: its permissions, on names that begin with
// one of the prefixes. A prefix ends where a group of a name ends: partner covers partner
// and partner.orders, and not partners.
type Grant struct {
	Permissions []string `json:"permissions" doc:"What is allowed."`
	Scope       []string `json:"scope" doc:"Prefixes of the names that it is allowed for; none: everything."`
}

// Grants are those of all roles that a user has.
type Grants struct {
	All []Grant

	prefixes sync.Map // by permission: computing them anew for each call would take long
}

// of returns the prefixes of the names on which a permission is granted, nil if it is on
// none.
func (g *Grants) of(permission string) map[string]bool {
	if g == nil {
		return nil
	}
	if known, ok := g.prefixes.Load(permission); ok {
		return known.(map[string]bool)
	}
	var found map[string]bool
	for _, grant := range g.All {
		if !allows(grant.Permissions, permission) {
			continue
		}
		if found == nil {
			found = make(map[string]bool)
		}
		for _, prefix := range grant.Scope {
			found[prefix] = true
		}
	}
	if found != nil { // nobody can fill the memory with permissions that are not granted
		g.prefixes.Store(permission, found)
	}
	return found
}
