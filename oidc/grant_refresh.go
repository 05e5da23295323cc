package oidc

import (
	"context"

	"sluice"
)

// refresh is the grant for a refresh token (RFC 6749, 6). Each token is used once and
// replaced. A second use means that it was stolen, so the session ends (RFC 9700, 4.14).
func (i *Issuer) refresh(ctx context.Context, r *request) (none issue, _ error) {
	user, err := i.userOf(ctx, r.session, deadRefresh())
	if err != nil {
		return none, err
	}
	is := issue{user: r.session.Username, roles: user.Roles}
	is.session, is.refresh, err = i.sessions.rotate(ctx, r.form["refresh_token"])
	switch {
	case err != nil:
		return none, err
	case is.session == nil:
		return none, deadRefresh()
	}
	return is, nil
}

// userOf returns the user of a session. If the user is gone the session ends, since the
// next user of that name must not inherit it.
func (i *Issuer) userOf(ctx context.Context, session *sluice.Session, dead error) (none sluice.User, _ error) {
	user, err := i.Directory.User(ctx, session.Username)
	if !sluice.Unauthenticated.Is(err) {
		return user, err
	}
	if err := i.sessions.end(ctx, session.ID); err != nil {
		return none, err
	}
	return none, dead
}

// refreshScope finds the session of the token, and returns its scope or the
// part of it that is asked for.
func (i *Issuer) refreshScope(ctx context.Context, r *request) (scope string, err error) {
	token := r.form["refresh_token"]
	if token == "" {
		return "", invalidRequest("The parameter refresh_token is missing.")
	}
	if r.session, err = i.sessions.ofFamily(ctx, token); err != nil {
		return "", err
	}
	if r.session == nil || r.session.ClientID != r.client.ID {
		return "", deadRefresh()
	}
	r.login.Username = r.session.Username
	if scope, err = narrowScope(r.session.Scope, r.form["scope"]); err != nil {
		return "", i.sessions.refuse(ctx, token, err)
	}
	return scope, nil
}

func deadRefresh() error {
	return invalidGrant("The refresh token is not valid, was used before, or belongs to another client. Log in again.")
}
