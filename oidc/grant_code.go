package oidc

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"time"

	"sluice"
)

// code is the grant for an authorization code, which a person allowed in a browser (RFC
// 6749, 4.1.3). The scope is the one that was asked for there.
func (i *Issuer) code(ctx context.Context, r *request) (none issue, _ error) {
	code := r.form["code"]
	if code == "" {
		return none, invalidRequest("The parameter code is missing.")
	}
	given := proof{clientID: r.client.ID, redirect: r.form["redirect_uri"], verifier: r.form["code_verifier"]}
	session, refresh, err := i.sessions.redeem(ctx, code, given, i.lifetime(r.client))
	if err != nil {
		return none, err
	}
	if session == nil {
		return none, deadCode()
	}
	r.login.Username, r.scope = session.Username, session.Scope
	user, err := i.userOf(ctx, session, deadCode())
	if err != nil {
		return none, err
	}
	return issue{user: user.Name, roles: user.Roles, session: session, refresh: refresh, nonce: session.Code.Nonce}, nil
}

func deadCode() error {
	return invalidGrant("The code is not valid, has expired or was used before, or client_id, redirect_uri and " +
		"code_verifier are not those it was asked for with. Start again.")
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
	session.MACKey = sluice.RandomBytes(familySize)
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
func (s *sessions) redeem(
	ctx context.Context, code string, p proof, lifetime time.Duration,
) (begun *sluice.Session, refresh string, err error) {
	if !isRandom(code, familySize) {
		return nil, "", nil
	}
	id := sessionID(code)
	if known, err := s.records.Get(ctx, id); err != nil || known == nil {
		return nil, "", err
	}
	var reused *sluice.Session
	begun, err = sluice.Replace(ctx, s.records, id, func(before *sluice.Session) (*sluice.Session, error) {
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
		after.Hash = sluice.HashSecret(refresh)
		after.Expires = s.now().UTC().Add(lifetime)
		return &after, nil
	})
	if err == nil && reused != nil {
		s.reused(ctx, reused)
	}
	return begun, refresh, err
}
