package oidc

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/limit"
)

// A grant is one way to get tokens. It runs after its client was authenticated and the
// scope decided.
type grant struct {
	scope  func(context.Context, *request) (string, error) // the granted part of the scope that is asked for
	run    func(context.Context, *request) (issue, error)
	public bool // clients without a secret may use it
}

// A request is what a grant decides on.
type request struct {
	client  *sluice.Client
	form    map[string]string
	address string
	login   *sluice.Login   // for Observe
	scope   string          // that is granted
	session *sluice.Session // that is refreshed
}

// An issue is what a grant has decided to issue.
type issue struct {
	user    string // whom the tokens stand for
	roles   []string
	session *sluice.Session // nil for a client that asks for itself
	refresh string          // the refresh token; empty: none
	nonce   string          // of the ID token

	// What the request says, and the endpoint.
	client       *sluice.Client
	scope        string
	now, expires time.Time
}

// An answer is the body of a successful request (RFC 6749, 5.1).
type answer struct {
	AccessToken      string `json:"access_token"`
	TokenType        string `json:"token_type"`
	ExpiresIn        int    `json:"expires_in"`
	RefreshToken     string `json:"refresh_token,omitempty"`
	RefreshExpiresIn int    `json:"refresh_expires_in,omitempty"`
	Scope            string `json:"scope,omitempty"` // no scope has no form
	IDToken          string `json:"id_token,omitempty"`
}

// token is the token endpoint: the phases that all grants share.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	login := sluice.Login{ClientID: form["client_id"], Address: r.RemoteAddr, Outcome: sluice.Granted}
	if _, known := i.grants[form["grant_type"]]; known {
		login.Grant = form["grant_type"]
	}
	answer, err := i.exchange(r, form, &login)
	if err != nil {
		login.Outcome = codeOf(sluice.AsError(err))
	}
	login.ClientID, login.Username = clip(login.ClientID), clip(login.Username)
	i.Observe(r.Context(), login)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// exchange authenticates the client, runs its grant and makes the tokens.
func (i *Issuer) exchange(r *http.Request, form map[string]string, login *sluice.Login) (*answer, error) {
	client, err := i.authenticate(r, form)
	if err != nil {
		return nil, err
	}
	login.ClientID = client.ID
	name := form["grant_type"]
	if name == "" {
		return nil, invalidRequest("The parameter grant_type is missing.")
	}
	grant, known := i.grants[name]
	if !known {
		return nil, sluice.CodeUnsupportedGrantType.Errorf("There is no such grant type here.")
	}
	if !slices.Contains(client.Grants, name) || client.Secret == "" && !grant.public {
		return nil, sluice.CodeUnauthorizedClient.Errorf("This client may not use the grant type %s.", name)
	}
	asked := &request{client: client, form: form, address: r.RemoteAddr, login: login}
	if asked.scope, err = grant.scope(r.Context(), asked); err != nil {
		return nil, err
	}
	issue, err := grant.run(r.Context(), asked)
	if err != nil {
		return nil, err
	}
	issue.client, issue.scope = client, asked.scope
	if !mayRefresh(client) {
		issue.refresh = ""
	}
	return i.answer(r.Context(), issue)
}

func (i *Issuer) answer(ctx context.Context, is issue) (*answer, error) {
	key, err := i.keys.signing(ctx)
	if err != nil {
		return nil, err
	}
	is.now = i.now()
	is.expires = is.now.Add(i.AccessTTL)
	if is.session != nil && is.session.Expires.Before(is.expires) {
		is.expires = is.session.Expires
	}
	a := &answer{
		TokenType: "Bearer", ExpiresIn: seconds(is.expires.Sub(is.now)), Scope: is.scope, RefreshToken: is.refresh,
	}
	if a.AccessToken, err = key.sign(i.accessClaims(is), accessType); err != nil {
		return nil, err
	}
	if is.refresh != "" {
		a.RefreshExpiresIn = seconds(is.session.Expires.Sub(is.now))
	}
	if hasScope(is.scope, "openid") {
		claims := i.idClaims(is)
		claims.AccessHash = accessHash(a.AccessToken)
		a.IDToken, err = key.sign(claims, idType)
	}
	return a, err
}

// clip bounds what a caller wrote.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), limit.MaxUsername)], "") }

func seconds(d time.Duration) int { return int(d.Round(time.Second) / time.Second) }

func invalidGrant(message string) *sluice.Error {
	return sluice.CodeInvalidGrant.Errorf("%s", message)
}
