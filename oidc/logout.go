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
