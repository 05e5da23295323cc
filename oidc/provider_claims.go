package oidc

import (
	"strings"

	"sluice"
	"sluice/limit"
)

// identity reads from claims whom a token stands for. Roles are never nil, even
// if there are none: nil would mean that they are looked up here, where a user
// of the same name may have others.
func (p *Provider) identity(claims map[string]any) (id sluice.Identity, ok bool) {
	id.Username = p.username(claims)
	id.Roles = rolesAt(claims, p.RolesClaim)
	id.ClientID = textOf(claims, "azp")
	if id.ClientID == "" {
		id.ClientID = textOf(claims, "client_id")
	}
	id.Scope = textOf(claims, "scope")
	return id, id.Username != "" && len(id.Username) <= limit.MaxUsername && plain(id.Username)
}

// usernameClaim is where most providers have the username.
const usernameClaim = "preferred_username"

func (p *Provider) username(claims map[string]any) string {
	if name := textOf(claims, p.UsernameClaim); name != "" || p.UsernameClaim != usernameClaim {
		return name
	}
	// At some providers people can enter any address.
	if email := textOf(claims, "email"); email != "" && claims["email_verified"] == true {
		return email
	}
	return textOf(claims, "sub")
}

// rolesAt returns the roles at a path of claims. They are a list, or a single
// one.
func rolesAt(claims map[string]any, path string) []string {
	roles := []string{}
	switch found := claimAt(claims, path).(type) {
	case string:
		roles = append(roles, found)
	case []any:
		for _, role := range found {
			if name, ok := role.(string); ok {
				roles = append(roles, name)
			}
		}
	}
	return roles
}

// claimAt returns the claim at a dotted path. A claim may have dots in its own
// name, as URLs do, so the longest name is tried first.
func claimAt(claims map[string]any, path string) any {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		value, ok := claims[path[:end]]
		if !ok {
			continue
		}
		if end == len(path) {
			return value
		}
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		return claimAt(inner, path[end+1:])
	}
	return nil
}

func textOf(claims map[string]any, path string) string {
	text, _ := claimAt(claims, path).(string)
	return text
}
