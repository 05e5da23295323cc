package oidc

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

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
	login   *Login          // for Observe
	scope   string          // that is granted
	session *sluice.Session // that is refreshed
}

// An issue is what a grant has decided to issue.
type issue struct {
	user    string // whom the tokens stand for
	client  bool   // the client itself is the user
	roles   []string
	scope   string          // that of the request
	session *sluice.Session // nil for a client that asks for itself
	refresh string          // the refresh token; empty: none
	nonce   string          // of the ID token
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
	login := Login{ClientID: form["client_id"], Address: r.RemoteAddr, Outcome: Granted}
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
func (i *Issuer) exchange(r *http.Request, form map[string]string, login *Login) (*answer, error) {
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
		return nil, sluice.Errorf(sluice.CodeUnsupportedGrantType, "There is no such grant type here.")
	}
	if !slices.Contains(client.Grants, name) || client.Secret == "" && !grant.public {
		return nil, sluice.Errorf(sluice.CodeUnauthorizedClient, "This client may not use the grant type %s.", name)
	}
	asked := &request{client: client, form: form, address: r.RemoteAddr, login: login}
	if asked.scope, err = grant.scope(r.Context(), asked); err != nil {
		return nil, err
	}
	issue, err := grant.run(r.Context(), asked)
	if err != nil {
		return nil, err
	}
	issue.scope = asked.scope
	return i.answer(r.Context(), client, issue)
}

func (i *Issuer) answer(ctx context.Context, client *sluice.Client, is issue) (*answer, error) {
	key, err := i.keys.signing(ctx)
	if err != nil {
		return nil, err
	}
	now := i.now()
	expires := now.Add(i.AccessTTL)
	if is.session != nil && is.session.Expires.Before(expires) {
		expires = is.session.Expires
	}
	a := &answer{TokenType: "Bearer", ExpiresIn: seconds(expires.Sub(now)), Scope: is.scope, RefreshToken: is.refresh}
	if a.AccessToken, err = key.access(i.accessClaims(client, is, now, expires)); err != nil {
		return nil, err
	}
	if is.refresh != "" {
		a.RefreshExpiresIn = seconds(is.session.Expires.Sub(now))
	}
	if hasScope(is.scope, "openid") {
		claims := i.idClaims(client, is, now, expires)
		claims.AccessHash = accessHash(a.AccessToken)
		if a.IDToken, err = jwt.Signed(key.idTokenSigner).Claims(claims).Serialize(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// clip bounds what a caller wrote.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), limit.MaxUsername)], "") }

func seconds(d time.Duration) int { return int(d.Round(time.Second) / time.Second) }

func invalidGrant(message string) *sluice.Error {
	return sluice.Errorf(sluice.CodeInvalidGrant, "%s", message)
}

// nobody is the client that unknown clients are checked against, so that they take as
// long. No secret has its hash.
var nobody = &sluice.Client{Secret: strings.Repeat("0", hex.EncodedLen(sha256.Size))}

// authenticate returns the client that makes a request. It identifies itself by
// header or by form, not by both (RFC 6749, 2.3). A public client has no secret
// and gives its id alone.
func (i *Issuer) authenticate(r *http.Request, form map[string]string) (*sluice.Client, error) {
	id, secret, err := i.clientCredentialsOf(r, form)
	if err != nil {
		return nil, err
	}
	client, err := i.Directory.Client(r.Context(), id)
	if err != nil {
		return nil, err
	}
	expected := client
	if client == nil {
		expected = nobody
	}
	if expected.Secret == "" {
		if secret != "" {
			return nil, i.invalidClient()
		}
		return client, nil
	}
	hash := sha256.Sum256([]byte(secret))
	right := subtle.ConstantTimeCompare([]byte(hex.EncodeToString(hash[:])), []byte(expected.Secret)) == 1
	if !right || client == nil {
		return nil, i.invalidClient()
	}
	return client, nil
}

// clientCredentialsOf returns the id and secret that a client sends.
func (i *Issuer) clientCredentialsOf(r *http.Request, form map[string]string) (id, secret string, err error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return "", "", invalidRequest("The request has more than one Authorization header; send one.")
	}
	if len(headers) == 0 {
		return form["client_id"], form["client_secret"], nil
	}
	if form["client_secret"] != "" {
		return "", "", invalidRequest("The client authenticates both by header and by form; use one of them.")
	}
	id, secret, ok := parseClientHeader(headers[0])
	if !ok {
		return "", "", i.invalidClient()
	}
	if named := form["client_id"]; named != "" && named != id {
		return "", "", invalidRequest("The header and the form name different clients.")
	}
	return id, secret, nil
}

// parseClientHeader reads an Authorization header of the scheme Basic whose two
// parts are form-encoded (RFC 6749, 2.3.1).
func parseClientHeader(header string) (id, secret string, ok bool) {
	scheme, credentials, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials))
	if err != nil {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(decoded), ":")
	id, idErr := url.QueryUnescape(id)
	secret, secretErr := url.QueryUnescape(secret)
	if !ok || idErr != nil || secretErr != nil || id == "" || !plain(id) || !plain(secret) {
		return "", "", false
	}
	return id, secret, true
}

func (i *Issuer) invalidClient() *sluice.Error {
	return sluice.Errorf(sluice.CodeInvalidClient, "The client is not known, or its secret is wrong or missing.").Challenging(`Basic realm="` + i.Namespace + `", charset="UTF-8"`)
}

// clientCredentials is the grant for a client that asks for itself (RFC 6749,
// 4.4). There is no session, so its tokens can't be revoked: they are short.
func (i *Issuer) clientCredentials(_ context.Context, r *request) (issue, error) {
	return issue{user: r.client.ID, client: true, roles: r.client.Roles}, nil
}

// clientScope leaves openid out: an ID token is about a person.
func clientScope(_ context.Context, r *request) (string, error) {
	scope, err := grantScope(r.form["scope"])
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), func(word string) bool { return word == "openid" }), " "), err
}
