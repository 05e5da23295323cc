package client

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"sluice"
)

const (
	callbackPath = "/callback"
	signInWait   = 5 * time.Minute // for the person in the browser
	pageWait     = 2 * time.Second // for the browser to get the last page
)

// A SignIn waits for a person to sign in in a browser, by the authorization code
// grant with PKCE. The browser returns to a port of this machine, and brings nothing
// but the code.
type SignIn struct {
	URL string // what the browser opens

	client   *Client
	login    Login  // without tokens
	named    string // what the issuer calls itself
	redirect string
	state    string
	verifier string
	server   *http.Server
	came     chan arrival
}

// An arrival is a browser that has returned, and waits to be told how it went.
type arrival struct {
	query   url.Values
	outcome chan error
}

// SignIn starts a login in a browser; callers must call Wait to end it. The error is
// NotFound if the server has no page to sign in on.
func (c *Client) SignIn(ctx context.Context) (*SignIn, error) {
	login, document, err := c.issuedBy(ctx)
	if err != nil {
		return nil, err
	}
	if document.Authorize == "" {
		return nil, sluice.CodeNoSignInPage.Errorf("The server has no page to sign in on.")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("no port of this machine can be used for the browser: %w", err)
	}
	s := &SignIn{
		client: c, login: login, named: document.Issuer,
		redirect: "http://" + listener.Addr().String() + callbackPath,
		state:    oauth2.GenerateVerifier(), verifier: oauth2.GenerateVerifier(),
		came: make(chan arrival),
	}
	page := document.config(login)
	page.RedirectURL = s.redirect
	s.URL = page.AuthCodeURL(s.state, oauth2.S256ChallengeOption(s.verifier))
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: pageWait}
	go func() { _ = s.server.Serve(listener) }() // ends with Wait
	return s, nil
}

// Wait waits until the person has signed in, and returns the login.
func (s *SignIn) Wait(ctx context.Context) (Login, error) {
	defer func() { _ = s.server.Close() }() // nobody waits for an answer any more
	waiting, cancel := context.WithTimeout(ctx, signInWait)
	defer cancel()
	select {
	case <-waiting.Done():
		if ctx.Err() != nil {
			return Login{}, ctx.Err()
		}
		return Login{}, sluice.CodeNotSignedIn.Errorf(
			"Nobody has signed in within %v; try again, or use --no-browser.", signInWait)
	case browser := <-s.came:
		login, err := s.finish(ctx, browser.query)
		browser.outcome <- err
		closing, cancel := context.WithTimeout(ctx, pageWait)
		defer cancel()
		_ = s.server.Shutdown(closing) // the page is a courtesy
		return login, err
	}
}

// serve receives the browser that returns. A request without the state does not come
// from the server, and changes nothing.
func (s *SignIn) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if r.Method != http.MethodGet || r.URL.Path != callbackPath ||
		subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(s.state)) != 1 {
		showPage(w, http.StatusNotFound, "There is nothing here.")
		return
	}
	browser := arrival{query, make(chan error, 1)}
	select {
	case s.came <- browser:
	case <-r.Context().Done():
		return
	}
	if err := <-browser.outcome; err != nil {
		showPage(w, http.StatusBadRequest, "You are not logged in: "+sluice.AsError(err).Message)
		return
	}
	showPage(w, http.StatusOK, "You are logged in. Close this page and go back to the terminal.")
}

// finish exchanges the code that the browser has brought.
func (s *SignIn) finish(ctx context.Context, query url.Values) (Login, error) {
	switch {
	case query.Get("error") != "":
		return Login{}, refused(query.Get("error"), query.Get("error_description"))
	case query.Get("code") == "" ||
		query.Get("iss") != s.named && (query.Has("iss") || s.login.TokenURL == ""): // not all issuers say who they are
		return Login{}, sluice.CodeLoginFailed.Errorf(
			"The server gave no code to the browser; try again, or use --no-browser.")
	}
	login, err := s.client.exchange(ctx, s.login, url.Values{
		"grant_type": {"authorization_code"}, "code": {query.Get("code")},
		"redirect_uri": {s.redirect}, "code_verifier": {s.verifier},
	})
	if err == nil {
		login.Username, err = s.client.username(ctx, login)
	}
	return login, err
}

// username asks who has logged in: the server, if its users are those of another issuer.
func (c *Client) username(ctx context.Context, login Login) (string, error) {
	path := login.Issuer + "/protocol/openid-connect/userinfo"
	if login.TokenURL != "" {
		path = sluice.CommandPath + "iam.whoami"
	}
	answer, err := c.do(ctx, request{path: path, header: http.Header{"Authorization": {login.bearer()}}, open: true})
	var person struct {
		Name     string `json:"preferred_username"`
		Username string `json:"username"`
	}
	switch {
	case sluice.Forbidden.Is(err): // the login may be good for other commands
		return "", nil
	case sluice.Unauthenticated.Is(err) && login.TokenURL != "":
		return "", sluice.CodeLoginFailed.Errorf(
			"%s has signed you in, but the server does not take its token. "+
				"Its log says why, such as an audience that auth-audience does not name.", login.Issuer).Because(err)
	case err != nil:
		return "", err
	}
	err = json.Unmarshal(answer.Body, &person)
	return cmp.Or(person.Name, person.Username), err
}

// showPage shows a sentence in the browser.
func showPage(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><html lang=\"en\"><meta "+
		"charset=\"utf-8\"><title>sluice</title><h1>sluice</h1><p>%s</p></html>\n", html.EscapeString(sentence))
}
