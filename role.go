package sluice

// A Role is a named set of permissions: everywhere, or on what its scope covers.
type Role struct {
	Name        string   `json:"role"`
	Permissions []string `json:"permissions"`
	Scope       []string `json:"scope,omitempty" doc:"Prefixes of names, see Grant; none: everything."`
}

// A RoleView is a role as its commands show it.
type RoleView struct {
	Role

	BuiltIn string `json:"builtIn,omitempty"` // unchanged or changed; empty for a role that is not built in
}
