package iam

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/limit"
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

	// Observe is called for every authentication. The scheme is basic, bearer,
	// refresh, other or none; the outcome is ok, invalid, throttled or unavailable.
	Observe func(scheme, outcome string)
}

// Authenticate returns the user that a request stands for. If the issuer replaced the
// refresh token of the request, the header svc-refresh-token of the answer has the next
// one.
func (a *Authenticator) Authenticate(w http.ResponseWriter, r *http.Request) (none sluice.User, _ error) {
	starting := a.Directory.starting()
	headers := r.Header.Values("Authorization")
	switch {
	case len(headers) == 0:
		err := sluice.CodeAuthorizationMissing.Errorf(
			"This needs an Authorization header: Basic, Bearer or Refresh.")
		a.observe(noScheme, err)
		return none, a.challenge(noScheme, unlessStarting(starting, err))
	case len(headers) > 1:
		err := sluice.CodeAuthorizationAmbiguous.Errorf(
			"The request has more than one Authorization header; send one.")
		a.observe(otherScheme, err)
		return none, err
	}
	user, renewed, err := a.Authorize(r.Context(), headers[0], r.RemoteAddr)
	if err != nil {
		scheme, _ := parseHeader(headers[0])
		return none, a.challenge(scheme, unlessStarting(starting, err))
	}
	if renewed != "" {
		w.Header().Set("svc-refresh-token", renewed)
	}
	return user, nil
}

// Authorize returns the user that the value of an Authorization header stands for, and
// the refresh token that replaces the one in it, if there is one.
func (a *Authenticator) Authorize(
	ctx context.Context, authorization, address string,
) (user sluice.User, renewed string, err error) {
	scheme, credentials := parseHeader(authorization)
	user, renewed, err = a.check(ctx, scheme, credentials, address)
	a.observe(scheme, err)
	return user, renewed, err
}

// check finds the user behind credentials. What it refuses is in the audit log.
func (a *Authenticator) check(
	ctx context.Context, scheme, credentials, address string,
) (user sluice.User, renewed string, err error) {
	// A reused token ends its login, and the audit log then has this address.
	ctx = sluice.WithUser(ctx, sluice.User{Address: address})
	var id sluice.Identity
	switch {
	case len(credentials) > maxHeader:
		err = sluice.WrongCredentials()
	case scheme == basicScheme:
		if username, password, ok := parseBasic(credentials); ok {
			user, err = a.Login(ctx, username, password, address)
			return user, "", err
		}
		err = sluice.WrongCredentials()
	case scheme == bearerScheme:
		id, err = a.Tokens.Access(ctx, credentials)
	case scheme == refreshScheme:
		id, renewed, err = a.Tokens.Refresh(ctx, credentials)
	default:
		err = sluice.CodeAuthorizationInvalid.Errorf(
			"This scheme of authorization is not known here; use Basic, Bearer or Refresh.")
	}
	if err == nil {
		user, err = a.Directory.Identify(ctx, id)
	}
	if err != nil {
		a.Directory.noteRefused(ctx, scheme, id, address, err)
		return sluice.User{}, "", err
	}
	a.Directory.Prove(user.Name, address)
	return user, renewed, nil
}

// The schemes of authorization, and what else a request may have.
const (
	basicScheme   = "basic"
	bearerScheme  = "bearer"
	refreshScheme = "refresh"
	otherScheme   = "other"
	noScheme      = "none"
)

// parseHeader splits an Authorization header.
func parseHeader(authorization string) (scheme, credentials string) {
	scheme, credentials, _ = strings.Cut(authorization, " ")
	switch scheme = strings.ToLower(scheme); scheme {
	case basicScheme, bearerScheme, refreshScheme:
		return scheme, strings.TrimSpace(credentials)
	}
	return otherScheme, ""
}

// parseBasic reads the credentials of the Basic scheme (RFC 7617).
func parseBasic(credentials string) (username, password string, ok bool) {
	decoded, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil || !utf8.Valid(decoded) {
		return "", "", false
	}
	username, password, ok = strings.Cut(string(decoded), ":")
	control := strings.ContainsFunc(string(decoded), func(r rune) bool { return r < ' ' || r == 0x7f })
	return username, password, ok && !control && username != "" && len(username) <= limit.MaxUsername &&
		len(password) <= limit.MaxPassword
}

// challenge adds to an error how to authenticate, if that is what went wrong.
func (a *Authenticator) challenge(scheme string, err error) error {
	e := sluice.AsError(err)
	if e.Kind != sluice.Unauthenticated {
		return e
	}
	realm := `realm="` + a.Realm + `"`
	bearer, refresh := "Bearer "+realm, "Refresh "+realm
	const invalid = `, error="invalid_token"`
	switch scheme {
	case bearerScheme:
		bearer += invalid
	case refreshScheme:
		refresh += invalid
	}
	return e.Challenging("Basic "+realm+`, charset="UTF-8"`, bearer, refresh)
}

func (a *Authenticator) observe(scheme string, err error) {
	outcome := "ok"
	if err != nil {
		switch sluice.AsError(err).Kind {
		case sluice.Unauthenticated, sluice.Invalid:
			outcome = "invalid"
		case sluice.Throttled:
			outcome = "throttled"
		default:
			outcome = "unavailable"
		}
	}
	a.Observe(scheme, outcome)
}
