package oidc

import (
	"context"
	"net/http"

	"sluice"
)

// logout ends a login (OpenID Connect RP-Initiated Logout, 2). A client proves
// by its refresh token which one, in the form that Keycloak takes, or hints at
// it by an ID token. There are no redirects, since clients don't register where
// to; other parameters of such a request are ignored.
func (i *Issuer) logout(w http.ResponseWriter, r *http.Request) error {
	form, err := logoutForm(w, r)
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

// logoutForm reads the parameters of a logout. Browsers bring them in the URL.
func logoutForm(w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	if r.Method == http.MethodGet {
		return parseForm(r.URL.RawQuery)
	}
	return readForm(w, r)
}

// endHinted ends the session that an ID token of ours was issued in. The token
// may have expired.
func (i *Issuer) endHinted(ctx context.Context, token, clientID string) error {
	if len(token) > maxToken {
		return badHint()
	}
	v, err := i.open(ctx, token, idType)
	switch {
	case err != nil && sluice.AsError(err).Kind != sluice.Unauthenticated:
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
