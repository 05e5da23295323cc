package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
)

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
