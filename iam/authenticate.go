package iam

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"sluice"
)

// maxHeader bounds an Authorization header before anything parses it.
const maxHeader = 8 << 10

// An Authenticator finds the user behind an Authorization header.
type Authenticator struct {
	Directory *Directory
	Tokens    sluice.Tokens
	Realm     string

	// Login checks a password: the directory's own, or an external
	// provider's.
	Login func(ctx context.Context, username, password, address string) (sluice.User, error)
}

// Authenticate gives the user that a request stands for. Where an issuer
// replaced the refresh token of the request, the answer's header
// svc-refresh-token has the one to use next.
func (a *Authenticator) Authenticate(w http.ResponseWriter, r *http.Request) (sluice.User, error) {
	headers := r.Header.Values("Authorization")
	switch {
	case len(headers) == 0:
		return sluice.User{}, a.challenge(sluice.Errorf(sluice.Unauthenticated, "authorization-missing", "This needs an Authorization header: Basic, Bearer or Refresh."))
	case len(headers) > 1:
		return sluice.User{}, sluice.Errorf(sluice.Invalid, "authorization-ambiguous", "The request has more than one Authorization header; send one.")
	}
	user, renewed, err := a.Authorize(r.Context(), headers[0], r.RemoteAddr)
	if err != nil {
		return sluice.User{}, a.challenge(err)
	}
	if renewed != "" {
		w.Header().Set("svc-refresh-token", renewed)
	}
	return user, nil
}

// Authorize gives the user that the value of an Authorization header stands
// for, and a refresh token that replaces the one in it, if there is such.
func (a *Authenticator) Authorize(ctx context.Context, authorization, address string) (user sluice.User, renewed string, err error) {
	if len(authorization) > maxHeader {
		return sluice.User{}, "", wrongCredentials()
	}
	scheme, credentials, _ := strings.Cut(authorization, " ")
	credentials = strings.TrimSpace(credentials)
	var id sluice.Identity
	switch strings.ToLower(scheme) {
	case "basic":
		username, password, ok := parseBasic(credentials)
		if !ok {
			return sluice.User{}, "", wrongCredentials()
		}
		user, err = a.Login(ctx, username, password, address)
		return user, "", err
	case "bearer":
		id, err = a.Tokens.Access(ctx, credentials)
	case "refresh":
		id, renewed, err = a.Tokens.Refresh(ctx, credentials)
	default:
		err = sluice.Errorf(sluice.Unauthenticated, "authorization-invalid", "This scheme of authorization is not known here; use Basic, Bearer or Refresh.")
	}
	if err != nil {
		return sluice.User{}, "", err
	}
	user, err = a.Directory.Identify(ctx, id)
	return user, renewed, err
}

// parseBasic reads the credentials of the Basic scheme (RFC 7617).
func parseBasic(credentials string) (username, password string, ok bool) {
	decoded, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil || !utf8.Valid(decoded) {
		return "", "", false
	}
	username, password, ok = strings.Cut(string(decoded), ":")
	control := strings.ContainsFunc(string(decoded), func(r rune) bool { return r < ' ' || r == 0x7f })
	return username, password, ok && !control && username != "" && len(username) <= maxUsername && len(password) <= maxPassword
}

// challenge tells how to authenticate, where that is what went wrong.
func (a *Authenticator) challenge(err error) error {
	e := sluice.AsError(err)
	if e.Kind != sluice.Unauthenticated {
		return err
	}
	realm := `realm="` + a.Realm + `"`
	bearer := "Bearer " + realm
	if e.Code == "invalid_token" {
		bearer += `, error="` + e.Code + `"`
	}
	e.Challenge = []string{"Basic " + realm + `, charset="UTF-8"`, bearer, "Refresh " + realm}
	return e
}
