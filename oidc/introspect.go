package oidc

import (
	"context"
	"net/http"

	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
)

// An introspection is what a token stands for (RFC 7662, 2.2).
type introspection struct {
	Active    bool             `json:"active"`
	TokenType string           `json:"token_type,omitempty"`
	Scope     string           `json:"scope,omitempty"`
	ClientID  string           `json:"client_id,omitempty"`
	Username  string           `json:"username,omitempty"`
	Subject   string           `json:"sub,omitempty"`
	Issuer    string           `json:"iss,omitempty"`
	Audience  jwt.Audience     `json:"aud,omitempty"`
	Expires   *jwt.NumericDate `json:"exp,omitempty"`
	IssuedAt  *jwt.NumericDate `json:"iat,omitempty"`
	NotBefore *jwt.NumericDate `json:"nbf,omitempty"`
	ID        string           `json:"jti,omitempty"`
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
	if err != nil && sluice.AsError(err).Kind == sluice.Unauthenticated {
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
		Subject:   session.Username,
		Issuer:    i.url,
		Expires:   jwt.NewNumericDate(session.Expires),
		IssuedAt:  jwt.NewNumericDate(session.Created),
	}, nil
}

func (i *Issuer) inspectAccess(ctx context.Context, token string) (introspection, error) {
	v, err := i.verify(ctx, token)
	if err != nil {
		return introspection{}, err
	}
	if v.isClient() {
		client, err := i.Directory.Client(ctx, v.ClientID)
		if err != nil || !client.Honours(v.Generation, v.IssuedAt.Time()) {
			return introspection{}, err
		}
	}
	found := introspection{
		Active:    true,
		TokenType: "Bearer",
		Scope:     v.Scope,
		ClientID:  v.ClientID,
		Subject:   v.Subject,
		Issuer:    v.Issuer,
		Audience:  v.Audience,
		Expires:   v.Expiry,
		IssuedAt:  v.IssuedAt,
		NotBefore: v.NotBefore,
		ID:        v.ID,
	}
	if !v.isClient() {
		found.Username = v.Subject
	}
	return found, nil
}
