package oidc

import (
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/limit"
)

// password is the grant for a username and its password (RFC 6749, 4.3). It
// opens a session, with a refresh token if the client may use one.
func (i *Issuer) password(ctx context.Context, r *request) (none issue, _ error) {
	username, password := r.form["username"], r.form["password"]
	r.login.Username = username
	if username == "" || password == "" {
		return none, invalidRequest("The parameters username and password are needed.")
	}
	if len(password) > limit.MaxPassword || len(username) > limit.MaxUsername {
		return none, wrongPassword()
	}
	user, err := i.Directory.Login(ctx, username, password, r.address)
	if err != nil {
		if sluice.Unauthenticated.Is(err) {
			return none, wrongPassword()
		}
		return none, err
	}
	r.login.Username = user.Name
	session, refresh, err := i.sessions.open(ctx, sluice.Session{
		Username: user.Name, ClientID: r.client.ID, Scope: r.scope,
	}, i.lifetime(r.client))
	if err != nil {
		return none, err
	}
	return issue{user: user.Name, roles: user.Roles, session: session, refresh: refresh}, nil
}

// lifetime returns how long a login through a client lasts.
func (i *Issuer) lifetime(client *sluice.Client) time.Duration {
	if mayRefresh(client) {
		return i.RefreshTTL
	}
	return i.AccessTTL
}

func mayRefresh(client *sluice.Client) bool { return slices.Contains(client.Grants, "refresh_token") }

func userScope(_ context.Context, r *request) (string, error) { return grantScope(r.form["scope"]) }

func wrongPassword() error { return invalidGrant("The username or the password is wrong.") }
