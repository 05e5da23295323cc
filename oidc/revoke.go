package oidc

import (
	"context"
	"net/http"

	"sluice"
)

// revoke makes a token invalid (RFC 7009). Both kinds of token end the session
// they belong to, and all its tokens with it.
func (i *Issuer) revoke(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if err := i.endBy(r, form, "token"); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// endBy ends the session of the token in a parameter. An invalid token is no error: the
// client already has what it wants.
func (i *Issuer) endBy(r *http.Request, form map[string]string, parameter string) error {
	client, err := i.authenticate(r, form)
	if err != nil {
		return err
	}
	token := form[parameter]
	if token == "" {
		return invalidRequest("The parameter " + parameter + " is missing.")
	}
	session, err := i.sessionOf(r.Context(), token)
	if err != nil {
		return err
	}
	if session != nil && session.ClientID != client.ID {
		return invalidGrant("The token belongs to another client.")
	}
	return i.end(r.Context(), session)
}

// end ends a session, if there is one, because its client wants it.
func (i *Issuer) end(ctx context.Context, session *sluice.Session) error {
	if session == nil {
		return nil
	}
	if err := i.sessions.end(ctx, session.ID); err != nil {
		return err
	}
	i.noteEnded(ctx, session, false)
	return nil
}

// sessionOf returns the session of an access token, or of a refresh token that
// is or was valid; nil if there is none.
func (i *Issuer) sessionOf(ctx context.Context, token string) (*sluice.Session, error) {
	session, err := i.sessions.ofFamily(ctx, token)
	if err != nil || session != nil {
		return session, err
	}
	v, err := i.verify(ctx, token)
	switch {
	case sluice.Unauthenticated.Is(err):
		return nil, nil
	case err != nil:
		return nil, err
	case v.isClient():
		return nil, sluice.Errorf(sluice.CodeUnsupportedTokenType,
			"The token of a client can't be revoked; it expires soon.")
	}
	return i.sessions.get(ctx, v.Session)
}
