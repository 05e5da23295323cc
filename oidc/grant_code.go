package oidc

import "context"

// code is the grant for an authorization code, which a person has let the
// program have in a browser (RFC 6749, 4.1.3). The scope is the one that was
// asked for there.
func (i *Issuer) code(ctx context.Context, r *request) (issue, error) {
	code := r.form["code"]
	if code == "" {
		return issue{}, invalidRequest("The parameter code is missing.")
	}
	lifetime, refreshable := i.lifetime(r.client)
	shown := proof{clientID: r.client.ID, redirect: r.form["redirect_uri"], verifier: r.form["code_verifier"]}
	session, refresh, err := i.sessions.redeem(ctx, code, shown, lifetime)
	if err != nil {
		return issue{}, err
	}
	if session == nil {
		return issue{}, deadCode()
	}
	r.login.Username, r.scope = session.Username, session.Scope
	user, err := i.userOf(ctx, session, deadCode())
	if err != nil {
		return issue{}, err
	}
	if !refreshable {
		refresh = ""
	}
	return issue{user: user.Name, roles: user.Roles, session: session, refresh: refresh, nonce: session.Code.Nonce}, nil
}

func deadCode() error {
	return invalidGrant("The code is not valid, has expired or was used before, or client_id, redirect_uri and code_verifier are not those it was asked for with. Start again.")
}

// clientCredentials is the grant for a client that asks for itself (RFC 6749,
// 4.4). There is no session, so its tokens can't be revoked: they are short.
func (i *Issuer) clientCredentials(_ context.Context, r *request) (issue, error) {
	return issue{user: r.client.ID, client: true, roles: r.client.Roles}, nil
}

// clientScope leaves openid out: an ID token is about a person.
func clientScope(_ context.Context, r *request) (string, error) {
	scope, err := grantScope(r.form["scope"])
	return withoutScope(scope, "openid"), err
}
