package oidc

import (
	"context"
	"slices"
	"strings"
)

// clientCredentials is the grant for a client that asks for itself (RFC 6749,
// 4.4). There is no session, so its tokens can't be revoked: they are short.
func (i *Issuer) clientCredentials(_ context.Context, r *request) (issue, error) {
	return issue{user: r.client.ID, roles: r.client.Roles}, nil
}

// clientScope leaves openid out: an ID token is about a person.
func clientScope(_ context.Context, r *request) (string, error) {
	scope, err := grantScope(r.form["scope"])
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), func(word string) bool { return word == "openid" }),
		" "), err
}
