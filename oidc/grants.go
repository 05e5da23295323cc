package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/limit"
)

// code is the grant for an authorization code, which a person allowed in a browser (RFC
// 6749, 4.1.3). The scope is the one that was asked for there.
func (i *Issuer) code(ctx context.Context, r *request) (issue, error) {
	code := r.form["code"]
	if code == "" {
		return issue{}, invalidRequest("The parameter code is missing.")
	}
	lifetime, refreshable := i.lifetime(r.client)
	shown := proof{clientID: r.client.ID, redirect: r.form["redirect_uri"], verifier: r.form["code_verifier"]}
	session, refresh, err := i.sessions.redeem(ctx, code, shown, lifetime)
	if err != nil {
		return issue{}, err
	}
	if session == nil {
		return issue{}, deadCode()
	}
	r.login.Username, r.scope = session.Username, session.Scope
	user, err := i.userOf(ctx, session, deadCode())
	if err != nil {
		return issue{}, err
	}
	if !refreshable {
		refresh = ""
	}
	return issue{user: user.Name, roles: user.Roles, session: session, refresh: refresh, nonce: session.Code.Nonce}, nil
}

func deadCode() error {
	return invalidGrant("The code is not valid, has expired or was used before, or client_id, redirect_uri and code_verifier are not those it was asked for with. Start again.")
}

// codeTTL is how long an authorization code is valid: long enough for a browser to bring
// it to the program, and for the program to use it.
const codeTTL = time.Minute

// An authorization code is the family of a session that has no tokens yet. So it is
// stored as a hash, every node knows it, and it ends together with the sessions of its
// user or client.

// permit stores a session that begins when its code is used.
func (s *sessions) permit(ctx context.Context, session sluice.Session) (code string, err error) {
	code = random(familySize)
	session.MACKey = randomBytes(familySize)
	_, err = s.store(ctx, code, session, codeTTL)
	return code, err
}

// A proof is what a program shows with a code: that the code was meant for it.
type proof struct {
	clientID string
	redirect string
	verifier string
}

func (p proof) fits(s *sluice.Session) bool {
	sum := sha256.Sum256([]byte(p.verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	return s.ClientID == p.clientID && s.Code.Redirect == p.redirect &&
		subtle.ConstantTimeCompare([]byte(s.Code.Challenge), []byte(challenge)) == 1
}

// redeem begins the session of a code, and returns its refresh token; none if the code is
// not valid. A code can be used once. A wrong proof makes it void. A second use with the
// right proof ends the session, since somebody has stolen both (RFC 6749, 4.1.2).
func (s *sessions) redeem(ctx context.Context, code string, p proof, lifetime time.Duration) (begun *sluice.Session, refresh string, err error) {
	if !isRandom(code, familySize) {
		return nil, "", nil
	}
	id := sessionID(code)
	if known, err := s.records.Get(ctx, id); err != nil || known == nil {
		return nil, "", err
	}
	var reused *sluice.Session
	begun, err = s.records.Change(ctx, id, func(before *sluice.Session, _ map[string]*sluice.Session) (*sluice.Session, error) {
		reused = nil
		switch {
		case before == nil || before.Code == nil || before.Code.Used && !p.fits(before):
			return nil, sluice.ErrUnchanged
		case before.Code.Used:
			reused = before
			return nil, nil
		case !p.fits(before) || !s.now().Before(before.Expires):
			return nil, nil
		}
		after, used := *before, *before.Code
		used.Used = true
		after.Code = &used
		refresh = newRefresh(code, before.MACKey)
		after.Hash = hashRefresh(refresh)
		after.Expires = s.now().UTC().Add(lifetime)
		return &after, nil
	})
	if errors.Is(err, sluice.ErrUnchanged) {
		return nil, "", nil
	}
	if err == nil && reused != nil {
		s.reused(ctx, reused)
	}
	return begun, refresh, err
}

// password is the grant for a username and its password (RFC 6749, 4.3). It
// opens a session, with a refresh token if the client may use one.
func (i *Issuer) password(ctx context.Context, r *request) (issue, error) {
	username, password := r.form["username"], r.form["password"]
	r.login.Username = username
	if username == "" || password == "" {
		return issue{}, invalidRequest("The parameters username and password are needed.")
	}
	if len(password) > limit.MaxPassword || len(username) > limit.MaxUsername {
		return issue{}, wrongPassword()
	}
	user, err := i.Directory.Login(ctx, username, password, r.address)
	if err != nil {
		if sluice.AsError(err).Kind == sluice.Unauthenticated {
			return issue{}, wrongPassword()
		}
		return issue{}, err
	}
	r.login.Username = user.Name
	lifetime, refreshable := i.lifetime(r.client)
	session, refresh, err := i.sessions.open(ctx, sluice.Session{Username: user.Name, ClientID: r.client.ID, Scope: r.scope}, lifetime)
	if err != nil {
		return issue{}, err
	}
	if !refreshable {
		refresh = ""
	}
	return issue{user: user.Name, roles: user.Roles, session: session, refresh: refresh}, nil
}

// lifetime returns how long a login through a client lasts, and whether its
// tokens can be refreshed.
func (i *Issuer) lifetime(client *sluice.Client) (lifetime time.Duration, refreshable bool) {
	if slices.Contains(client.Grants, "refresh_token") {
		return i.RefreshTTL, true
	}
	return i.AccessTTL, false
}

func userScope(_ context.Context, r *request) (string, error) { return grantScope(r.form["scope"]) }

func wrongPassword() error { return invalidGrant("The username or the password is wrong.") }

// refresh is the grant for a refresh token (RFC 6749, 6). Each token is used once and
// replaced. A second use means that it was stolen, so the session ends (RFC 9700, 4.14).
func (i *Issuer) refresh(ctx context.Context, r *request) (issue, error) {
	user, err := i.userOf(ctx, r.session, deadRefresh())
	if err != nil {
		return issue{}, err
	}
	is := issue{user: r.session.Username, roles: user.Roles}
	is.session, is.refresh, err = i.sessions.rotate(ctx, r.form["refresh_token"])
	switch {
	case err != nil:
		return issue{}, err
	case is.session == nil:
		return issue{}, deadRefresh()
	}
	return is, nil
}

// userOf returns the user of a session. If the user is gone the session ends, since the
// next user of that name must not inherit it.
func (i *Issuer) userOf(ctx context.Context, session *sluice.Session, dead error) (sluice.User, error) {
	user, err := i.Directory.User(ctx, session.Username)
	if err == nil || sluice.AsError(err).Kind != sluice.Unauthenticated {
		return user, err
	}
	if err := i.sessions.end(ctx, session.ID); err != nil {
		return sluice.User{}, err
	}
	return sluice.User{}, dead
}

// refreshScope finds the session of the token, and returns its scope or the
// part of it that is asked for.
func (i *Issuer) refreshScope(ctx context.Context, r *request) (scope string, err error) {
	token := r.form["refresh_token"]
	if token == "" {
		return "", invalidRequest("The parameter refresh_token is missing.")
	}
	if r.session, err = i.sessions.ofFamily(ctx, token); err != nil {
		return "", err
	}
	if r.session == nil || r.session.ClientID != r.client.ID {
		return "", deadRefresh()
	}
	r.login.Username = r.session.Username
	if scope, err = narrowScope(r.session.Scope, r.form["scope"]); err != nil {
		return "", i.sessions.refuse(ctx, token, err)
	}
	return scope, nil
}

func deadRefresh() error {
	return invalidGrant("The refresh token is not valid, was used before, or belongs to another client. Log in again.")
}

// A refresh token is <family>.<secret>. The id of its session is a hash of the family, so
// that access tokens, which show the id, don't reveal the family. The secret is random
// bytes and their HMAC, with a key that the session holds. The session knows the valid
// token by its hash. The HMAC tells earlier tokens, whose use ends the session, from
// made-up ones, whose use must not.
const (
	familySize = 16
	nonceSize  = 32
	macSize    = 16
	secretSize = nonceSize + macSize
)

func newRefresh(family string, key []byte) string {
	nonce := randomBytes(nonceSize)
	return family + "." + base64.RawURLEncoding.EncodeToString(append(nonce, macOf(key, family, nonce)...))
}

func macOf(key []byte, family string, nonce []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(family))
	h.Write(nonce)
	return h.Sum(nil)[:macSize]
}

func wasIssued(s *sluice.Session, token string) bool {
	family, encoded, _ := strings.Cut(token, ".")
	secret, ok := decodeCanonical(encoded)
	return ok && len(secret) == secretSize && hmac.Equal(secret[nonceSize:], macOf(s.MACKey, family, secret[:nonceSize]))
}

// isCurrent reports whether a refresh token is the valid one of the session.
func isCurrent(s *sluice.Session, token string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Hash), []byte(hashRefresh(token))) == 1
}

func hashRefresh(token string) string {
	hash := sha256.Sum256([]byte(token))
	return hex.EncodeToString(hash[:])
}

// parseRefresh returns the id of the session that a refresh token is of.
func parseRefresh(token string) (id string, ok bool) {
	family, secret, _ := strings.Cut(token, ".")
	if !isRandom(family, familySize) || !isRandom(secret, secretSize) {
		return "", false
	}
	return sessionID(family), true
}

func sessionID(family string) string {
	hash := sha256.Sum256([]byte(family))
	return base64.RawURLEncoding.EncodeToString(hash[:familySize])
}

// random returns a text that can't be guessed.
func random(size int) string { return base64.RawURLEncoding.EncodeToString(randomBytes(size)) }

func randomBytes(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return b
}

// isRandom reports whether a text has the form of random's.
func isRandom(s string, size int) bool {
	decoded, ok := decodeCanonical(s)
	return ok && len(decoded) == size
}

// decodeCanonical decodes base64 that is written in the one canonical way: no
// line breaks, and no loose bits at the end.
func decodeCanonical(s string) ([]byte, bool) {
	decoded, err := base64.RawURLEncoding.DecodeString(s)
	return decoded, err == nil && base64.RawURLEncoding.EncodeToString(decoded) == s
}
