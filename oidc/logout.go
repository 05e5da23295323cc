package oidc

import (
	"context"
	"net/http"

	"sluice"
)

// logout ends a login (OpenID Connect RP-Initiated Logout, 2). A client names the login
// by its refresh token, as with Keycloak, or by an ID token. There are no redirects, since
// clients don't register URIs for them; other parameters are ignored.
func (i *Issuer) logout(w http.ResponseWriter, r *http.Request) error {
	var form map[string]string
	var err error
	if r.Method == http.MethodGet { // browsers bring the parameters in the URL
		form, err = parseForm(r.URL.RawQuery)
	} else {
		form, err = readForm(w, r)
	}
	if err != nil {
		return err
	}
	hint := form["id_token_hint"]
	switch {
	case form["refresh_token"] != "" && r.Method == http.MethodPost:
		err = i.endBy(r, form, "refresh_token")
	case hint != "":
		err = i.endHinted(r.Context(), hint, form["client_id"])
	default:
		err = invalidRequest("The parameter refresh_token is missing, and there is no id_token_hint either.")
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// endHinted ends the session that an ID token of ours was issued in. The token
// may have expired.
func (i *Issuer) endHinted(ctx context.Context, token, clientID string) error {
	if len(token) > maxToken {
		return badHint()
	}
	v, err := i.open(ctx, token, idType)
	switch {
	case err != nil && !sluice.Unauthenticated.Is(err):
		return err
	case err != nil || v.Issuer != i.url || v.Type != idClaim || clientID != "" && clientID != v.AuthorizedParty:
		return badHint()
	}
	session, err := i.sessions.get(ctx, v.Session)
	if err != nil {
		return err
	}
	return i.end(ctx, session)
}

func badHint() error {
	return invalidRequest("The id_token_hint is not an ID token that was issued here to this client.")
}

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
		return nil, sluice.CodeUnsupportedTokenType.Errorf(
			"The token of a client can't be revoked; it expires soon.")
	}
	return i.sessions.get(ctx, v.Session)
}
