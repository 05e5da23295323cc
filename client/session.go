package client

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"sluice"
)

// How long a renewal may take, in all and after an interrupt. If new tokens were
// issued but not stored, the next use of the old ones would look like theft.
const (
	renewal      = 30 * time.Second
	renewalGrace = 2 * time.Second
)

// A Session implements Credentials with the login of a profile. It renews the access
// token when it has expired.
type Session struct {
	Profiles *Profiles
	Profile  string
}

// Authorization implements Credentials.
func (s *Session) Authorization(ctx context.Context, refused string) (string, error) {
	login, err := s.Profiles.Load(s.Profile)
	if err == nil && !login.usable(refused) {
		login, err = s.renew(ctx, refused)
	}
	return login.bearer(), err
}

// renew exchanges the refresh token for new tokens. Only one client does so at a
// time; the others wait and use its tokens.
func (s *Session) renew(ctx context.Context, refused string) (Login, error) {
	turn, cancel := context.WithTimeout(ctx, renewal)
	defer cancel()
	file := s.Profiles.file(s.Profile)
	unlock, err := lock(turn, file)
	if err != nil {
		return Login{}, err
	}
	defer unlock()
	login, err := s.Profiles.Load(s.Profile)
	if err != nil || login.usable(refused) {
		return login, err
	}
	c, err := New(login.URL, nil)
	if err != nil {
		return Login{}, err
	}
	defer c.CloseIdle()
	ended := sluice.CodeLoginEnded.Errorf("The login at %s has ended.", login.URL)
	if login.RefreshToken == "" {
		return Login{}, ended
	}
	ctx, stop := withGrace(ctx)
	defer stop()
	renewed, err := c.exchange(ctx, login, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {login.RefreshToken}, // which can't be used again
	})
	if err != nil {
		if e := sluice.AsError(err); e.Kind == sluice.Unauthenticated {
			return Login{}, ended.Because(e)
		}
		return Login{}, err
	}
	return renewed, writeJSON(file, renewed)
}

// withGrace returns a context that outlives ctx for a short while.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewal)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(renewalGrace, cancel) })
	return longer, func() { stop(); cancel() }
}

// Login logs a person in with a password, which is not kept. It asks for name and password only
// if the server takes them.
func (c *Client) Login(ctx context.Context, ask func() (username, password string, err error)) (Login, error) {
	issuer, err := c.ownIssuer(ctx)
	if err != nil {
		return Login{}, err
	}
	username, password, err := ask()
	if err != nil {
		return Login{}, err
	}
	return c.exchange(ctx, Login{URL: c.url, Username: username, Issuer: issuer}, url.Values{
		"grant_type": {"password"}, "username": {username}, "password": {password},
	})
}

// exchange gets the tokens of a login. Their lifetime counts from the request, since nobody knows
// how long the answer took to arrive.
func (c *Client) exchange(ctx context.Context, login Login, grant url.Values) (Login, error) {
	asked := time.Now()
	grant.Set("client_id", cmp.Or(login.Client, clientID))
	got, err := c.token(ctx, cmp.Or(login.TokenURL, login.endpoint("token")), grant)
	if err == nil {
		login.keep(got, asked)
	}
	return login, err
}

// Logout ends a login at its issuer. One of another issuer that ends none is forgotten here only.
func (c *Client) Logout(ctx context.Context, login Login) error {
	if login.RefreshToken == "" || login.TokenURL != "" && login.RevokeURL == "" {
		return nil
	}
	_, err := c.at(cmp.Or(login.RevokeURL, login.endpoint("revoke"))).postForm(ctx, url.Values{
		"token": {login.RefreshToken}, "client_id": {cmp.Or(login.Client, clientID)},
	})
	return err
}
