package client

import (
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
	if err != nil {
		return "", err
	}
	if !s.usable(login, refused) {
		if login, err = s.renew(ctx, refused); err != nil {
			return "", err
		}
	}
	return bearer(login), nil
}

func bearer(login Login) string { return "Bearer " + login.AccessToken }

func (s *Session) usable(login Login, refused string) bool {
	return login.fresh(time.Now()) && bearer(login) != refused
}

// renew exchanges the refresh token for new tokens. Only one client does so at a
// time; the others wait and use its tokens.
func (s *Session) renew(ctx context.Context, refused string) (Login, error) {
	turn, cancel := context.WithTimeout(ctx, renewal)
	defer cancel()
	unlock, err := lock(turn, s.Profiles.lockFile(s.Profile))
	if err != nil {
		return Login{}, err
	}
	defer unlock()
	login, err := s.Profiles.Load(s.Profile)
	if err != nil || s.usable(login, refused) {
		return login, err
	}
	c, err := New(login.URL, Fixed(""))
	if err != nil {
		return Login{}, err
	}
	defer c.CloseIdle()
	ctx, stop := withGrace(ctx)
	defer stop()
	renewed, err := c.refresh(ctx, login)
	if err != nil {
		if e := sluice.AsError(err); e.Kind == sluice.Unauthenticated {
			return Login{}, e.Coded(sluice.CodeLoginEnded).Saying("The login at " + login.URL + " has ended.")
		}
		return Login{}, err
	}
	return renewed, s.Profiles.store(s.Profile, renewed)
}

// withGrace returns a context that outlives ctx for a short while.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewal)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(renewalGrace, cancel) })
	return longer, func() { stop(); cancel() }
}

// Login logs a person in with a password, which is not kept.
func (c *Client) Login(ctx context.Context, username, password string) (Login, error) {
	issuer, err := c.ownIssuer(ctx)
	if err != nil {
		return Login{}, err
	}
	asked := time.Now()
	form := url.Values{"grant_type": {"password"}, "username": {username}, "password": {password}}
	got, err := c.token(ctx, issuer, "token", form)
	if err != nil {
		return Login{}, err
	}
	login := Login{URL: c.url, Username: username, Issuer: issuer}
	login.keep(got, asked)
	return login, nil
}

// refresh exchanges a refresh token, which can't be used again.
func (c *Client) refresh(ctx context.Context, login Login) (Login, error) {
	asked := time.Now()
	got, err := c.token(ctx, login.Issuer, "token", url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {login.RefreshToken},
	})
	if err != nil {
		return login, err
	}
	login.keep(got, asked)
	return login, nil
}

// Logout ends a login at the server.
func (c *Client) Logout(ctx context.Context, login Login) error {
	_, err := c.token(ctx, login.Issuer, "revoke", url.Values{"token": {login.RefreshToken}})
	return err
}
