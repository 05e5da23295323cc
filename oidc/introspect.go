package oidc

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
)

// An introspection is what a token stands for (RFC 7662, 2.2).
type introspection struct {
	Active    bool   `json:"active"`
	TokenType string `json:"token_type,omitempty"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	Username  string `json:"username,omitempty"`
	jwt.Claims
}

// introspect tells a client with a secret whether a token is valid.
func (i *Issuer) introspect(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	client, err := i.authenticate(r, form)
	if err != nil {
		return err
	}
	if client.Secret == "" {
		return i.invalidClient()
	}
	token := form["token"]
	if token == "" {
		return invalidRequest("The parameter token is missing.")
	}
	found, err := i.inspect(r.Context(), token)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, found)
	return nil
}

func (i *Issuer) inspect(ctx context.Context, token string) (introspection, error) {
	found, err := i.inspectRefresh(ctx, token)
	if err == nil && !found.Active {
		found, err = i.inspectAccess(ctx, token)
	}
	if err == nil && found.Username != "" {
		_, err = i.Directory.User(ctx, found.Username)
	}
	if sluice.Unauthenticated.Is(err) {
		return introspection{}, nil
	}
	return found, err
}

func (i *Issuer) inspectRefresh(ctx context.Context, token string) (introspection, error) {
	session, err := i.sessions.find(ctx, token)
	if err != nil || session == nil {
		return introspection{}, err
	}
	return introspection{
		Active:    true,
		TokenType: "refresh_token",
		Scope:     session.Scope,
		ClientID:  session.ClientID,
		Username:  session.Username,
		Claims: jwt.Claims{
			Subject:  session.Username,
			Issuer:   i.url,
			Expiry:   jwt.NewNumericDate(session.Expires),
			IssuedAt: jwt.NewNumericDate(session.Created),
		},
	}, nil
}

func (i *Issuer) inspectAccess(ctx context.Context, token string) (none introspection, _ error) {
	v, err := i.verify(ctx, token)
	if err != nil {
		return none, err
	}
	if v.isClient() {
		client, err := i.Directory.Client(ctx, v.ClientID)
		if err != nil || !client.Honours(v.Generation, v.IssuedAt.Time()) {
			return none, err
		}
	}
	found := introspection{
		Active: true, TokenType: "Bearer", Scope: v.Scope, ClientID: v.ClientID, Claims: v.Claims,
	}
	if !v.isClient() {
		found.Username = v.Subject
	}
	return found, nil
}

// userinfo answers with the user of an access token (OpenID Connect Core, 5.3).
func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) error {
	token, err := i.bearer(r)
	if err != nil {
		return err
	}
	id, err := i.Access(r.Context(), token)
	if err == nil && !hasScope(id.Scope, "openid") {
		return i.challenge(sluice.CodeInsufficientScope.Errorf("This needs a token with the scope openid."))
	}
	var user sluice.User
	if err == nil {
		user, err = i.Directory.User(r.Context(), id.Username)
	}
	if sluice.Unauthenticated.Is(err) {
		return i.challenge(notAccepted())
	}
	if err != nil {
		return err
	}
	info := map[string]any{"sub": user.Name, "roles": user.Roles}
	if hasScope(id.Scope, "profile") {
		info["preferred_username"] = user.Name
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// bearer returns the token in a request's Authorization header, the one place
// where it may be.
func (i *Issuer) bearer(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 || r.URL.Query().Has("access_token") {
		return "", invalidRequest("Send the token once, in the Authorization header.")
	}
	if len(headers) == 0 {
		return "", sluice.CodeInvalidToken.Errorf("This needs an access token in the Authorization header.").
			Challenging(`Bearer realm="` + i.Namespace + `"`)
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", i.challenge(notAccepted())
	}
	return strings.TrimSpace(token), nil
}

// challenge adds to an error how to authenticate (RFC 6750, 3).
func (i *Issuer) challenge(e *sluice.Error) error {
	return e.Challenging(`Bearer realm="` + i.Namespace + `", error="` + e.Code + `"`)
}
