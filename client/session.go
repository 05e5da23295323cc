package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
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

// clientID is the command line's id at the issuer of tokens.
const clientID = "sluice"

// tokens are what the issuer gives.
type tokens struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	ExpiresIn int    `json:"expires_in"`
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
	login.take(got, asked)
	return login, nil
}

// ownIssuer returns the path of the server's own issuer of tokens.
func (c *Client) ownIssuer(ctx context.Context) (string, error) {
	described, err := c.describe(ctx, true)
	switch {
	case err != nil:
		return "", err
	case described.issuer == "":
		return "", sluice.Errorf(sluice.CodeNoIssuer, "The server gives no tokens; set SLUICE_USERNAME and SLUICE_PASSWORD instead of logging in.")
	case !strings.HasPrefix(described.issuer, "/"):
		return "", sluice.Errorf(sluice.CodeExternalUsers, "The server's users are those of %s: get a token there and set SLUICE_TOKEN.", described.issuer).OfKind(sluice.Unauthenticated)
	}
	return described.issuer, nil
}

// refresh exchanges a refresh token, which can't be used again.
func (c *Client) refresh(ctx context.Context, login Login) (Login, error) {
	asked := time.Now()
	got, err := c.token(ctx, login.Issuer, "token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {login.RefreshToken}})
	if err != nil {
		return login, err
	}
	login.take(got, asked)
	return login, nil
}

// Logout ends a login at the server.
func (c *Client) Logout(ctx context.Context, login Login) error {
	_, err := c.token(ctx, login.Issuer, "revoke", url.Values{"token": {login.RefreshToken}})
	return err
}

// token posts a form to one of the issuer's endpoints.
func (c *Client) token(ctx context.Context, issuer, endpoint string, form url.Values) (tokens, error) {
	if !form.Has("client_id") {
		form.Set("client_id", clientID)
	}
	answer, err := c.postForm(ctx, issuer+"/protocol/openid-connect/"+endpoint, form)
	if err != nil || endpoint != "token" {
		return tokens{}, err
	}
	return readTokens(answer)
}

// postForm sends a form without credentials.
func (c *Client) postForm(ctx context.Context, path string, form url.Values) (Answer, error) {
	return c.do(ctx, request{
		method: http.MethodPost,
		path:   path,
		body:   []byte(form.Encode()),
		header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		open:   true,
	})
}

func readTokens(answer Answer) (tokens, error) {
	var got tokens
	if err := json.Unmarshal(answer.Body, &got); err != nil || got.Access == "" {
		return tokens{}, sluice.Errorf(sluice.CodeTokenMalformed, "The server gave no tokens; is there a sluice at this URL?").Because(err)
	}
	return got, nil
}

// A Machine implements Credentials with the id and the secret of an OAuth 2.0
// client. It gets an access token when it needs one, and keeps it in memory.
type Machine struct {
	Server     string
	ID, Secret string

	mu    sync.Mutex
	login Login
}

// Authorization implements Credentials.
func (m *Machine) Authorization(ctx context.Context, refused string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.login.fresh(time.Now()) && bearer(m.login) != refused {
		return bearer(m.login), nil
	}
	asked := time.Now()
	got, err := m.ask(ctx)
	if err != nil {
		return "", err
	}
	m.login.take(got, asked)
	return bearer(m.login), nil
}

// ask gets an access token from the issuer that the server names.
func (m *Machine) ask(ctx context.Context) (tokens, error) {
	c, err := New(m.Server, Fixed(""))
	if err != nil {
		return tokens{}, err
	}
	defer c.CloseIdle()
	described, err := c.describe(ctx, true)
	if err != nil {
		return tokens{}, err
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {m.ID}, "client_secret": {m.Secret}}
	if strings.HasPrefix(described.issuer, "/") {
		got, err := c.token(ctx, described.issuer, "token", form)
		return got, refusedMachine(err)
	}
	issuer, err := New(described.issuer, Fixed(""))
	if err != nil {
		return tokens{}, sluice.Errorf(sluice.CodeNoIssuer, "The server gives no tokens; set SLUICE_TOKEN, or SLUICE_USERNAME and SLUICE_PASSWORD.")
	}
	defer issuer.CloseIdle()
	document, err := issuer.discover(ctx, "")
	if err != nil {
		return tokens{}, err
	}
	endpoint, err := New(document.Token, Fixed(""))
	if err != nil {
		return tokens{}, err
	}
	defer endpoint.CloseIdle()
	answer, err := endpoint.postForm(ctx, "", form)
	if err != nil {
		return tokens{}, refusedMachine(err)
	}
	return readTokens(answer)
}

// metadata is the part of an issuer's description that we need.
type metadata struct {
	Issuer    string `json:"issuer"`
	Authorize string `json:"authorization_endpoint"`
	Token     string `json:"token_endpoint"`
}

// discover asks the issuer at a path to describe itself.
func (c *Client) discover(ctx context.Context, issuer string) (metadata, error) {
	answer, err := c.do(ctx, request{method: http.MethodGet, path: issuer + sluice.OpenIDPath, open: true})
	if err != nil {
		return metadata{}, err
	}
	var document metadata
	if err := json.Unmarshal(answer.Body, &document); err != nil {
		return metadata{}, sluice.Errorf(sluice.CodeIssuerMalformed, "The issuer %s does not say where it gives tokens.", c.url).Because(err)
	}
	return document, nil
}

// refusedMachine names the variables in the error for a wrong id or secret.
func refusedMachine(err error) error {
	if err == nil {
		return nil
	}
	if e := sluice.AsError(err); e.Code == sluice.CodeInvalidClient.Word || e.Code == sluice.CodeUnauthorizedClient.Word {
		return e.Saying("The issuer refuses this client; check SLUICE_CLIENT_ID and SLUICE_CLIENT_SECRET.")
	}
	return err
}
