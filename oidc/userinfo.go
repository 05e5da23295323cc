package oidc

import (
	"net/http"
	"strings"

	"sluice"
)

// userinfo answers with the user of an access token (OpenID Connect Core, 5.3).
func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) error {
	token, err := i.bearer(r)
	if err != nil {
		return err
	}
	id, err := i.Access(r.Context(), token)
	if err == nil && !hasScope(id.Scope, "openid") {
		return i.challenge(sluice.Errorf(sluice.CodeInsufficientScope, "This needs a token with the scope openid."))
	}
	var user sluice.User
	if err == nil {
		user, err = i.Directory.User(r.Context(), id.Username)
	}
	if err != nil && sluice.AsError(err).Kind == sluice.Unauthenticated {
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
		return "", sluice.Errorf(sluice.CodeInvalidToken, "This needs an access token in the Authorization header.").Challenging(`Bearer realm="` + i.Namespace + `"`)
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
