package oidc

import (
	"context"

	"sluice"
)

// refresh is the grant for a refresh token (RFC 6749, 6). Each token is used
// once and replaced; a second use means that it was stolen, from the client or
// from the thief, so the session ends (RFC 9700, 4.14).
func (i *Issuer) refresh(ctx context.Context, r *request) (issue, error) {
	token := r.form["refresh_token"]
	if token == "" {
		return issue{}, invalidRequest("The parameter refresh_token is missing.")
	}
	session, err := i.sessions.ofFamily(ctx, token)
	if err != nil {
		return issue{}, err
	}
	if session == nil || session.ClientID != r.client.ID {
		return issue{}, deadRefresh()
	}
	r.login.Username = session.Username
	is := issue{user: session.Username}
	is.scope, err = narrowScope(session.Scope, r.form["scope"])
	if err != nil {
		return issue{}, i.sessions.refuse(ctx, token, err)
	}
	user, err := i.Directory.User(ctx, session.Username)
	switch {
	case err != nil && sluice.AsError(err).Kind == sluice.Unauthenticated:
		// Whoever gets that name next must not inherit the session.
		if err := i.sessions.end(ctx, session.ID); err != nil {
			return issue{}, err
		}
		return issue{}, deadRefresh()
	case err != nil:
		return issue{}, err
	}
	is.roles = user.Roles
	is.session, is.refresh, err = i.sessions.rotate(ctx, token)
	switch {
	case err != nil:
		return issue{}, err
	case is.session == nil:
		return issue{}, deadRefresh()
	}
	return is, nil
}

func deadRefresh() error {
	return invalidGrant("The refresh token is not valid, was used before, or belongs to another client. Log in again.")
}
