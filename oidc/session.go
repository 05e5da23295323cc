package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"sluice"
)

// A refresh token is <family>.<secret>. The id of its session is a hash of the
// family: access tokens show the id, and who knows only that can't make up a
// token that looks used before, which would end the session.
const (
	familySize = 16
	secretSize = 32
)

// sessions is the store of logins.
type sessions struct {
	records sluice.Records[sluice.Session]
	now     func() time.Time

	mu    sync.Mutex
	swept time.Time // when dead sessions were last looked for
}

// errUnchanged makes a change store nothing.
var errUnchanged = errors.New("nothing to change")

// open stores a new session and gives the refresh token for it.
func (s *sessions) open(ctx context.Context, session sluice.Session, lifetime time.Duration) (*sluice.Session, string, error) {
	if err := s.sweep(ctx); err != nil {
		return nil, "", err
	}
	family := random(familySize)
	token := family + "." + random(secretSize)
	session.ID = sessionID(family)
	session.Hash = hashRefresh(token)
	session.Created = s.now().UTC()
	session.Expires = session.Created.Add(lifetime)
	kept, err := s.records.Change(ctx, session.ID, func(_ *sluice.Session, _ map[string]*sluice.Session) (*sluice.Session, error) {
		return &session, nil
	})
	return kept, token, err
}

// ofFamily gives the session that a refresh token belongs or once belonged to,
// or nil.
func (s *sessions) ofFamily(ctx context.Context, token string) (*sluice.Session, error) {
	id, ok := parseRefresh(token)
	if !ok {
		return nil, nil
	}
	return s.get(ctx, id)
}

// get gives a session that is alive, or nil.
func (s *sessions) get(ctx context.Context, id string) (*sluice.Session, error) {
	session, err := s.records.Get(ctx, id)
	if err != nil || session == nil || !s.now().Before(session.Expires) {
		return nil, err
	}
	return session, nil
}

// find gives the session whose valid refresh token is the given one, or nil. It
// changes nothing.
func (s *sessions) find(ctx context.Context, token string) (*sluice.Session, error) {
	session, err := s.ofFamily(ctx, token)
	if err != nil || session == nil || isCurrent(session, token) {
		return session, err
	}
	// Another node may have replaced the token this very moment. A change that
	// is given up decides on what is stored by now.
	var latest *sluice.Session
	_, err = s.records.Change(ctx, session.ID, func(before *sluice.Session, _ map[string]*sluice.Session) (*sluice.Session, error) {
		latest = before
		return nil, errUnchanged
	})
	if !errors.Is(err, errUnchanged) {
		return nil, err
	}
	if latest == nil || !isCurrent(latest, token) {
		return nil, nil
	}
	return latest, nil
}

// rotate replaces a refresh token by a new one. If it is not the valid one of
// its session, the session ends and there is none.
func (s *sessions) rotate(ctx context.Context, token string) (*sluice.Session, string, error) {
	family, _, _ := strings.Cut(token, ".")
	renewed := family + "." + random(secretSize)
	session, err := s.use(ctx, token, func(before sluice.Session) (*sluice.Session, error) {
		before.Hash = hashRefresh(renewed)
		return &before, nil
	})
	return session, renewed, err
}

// refuse gives the error for a refresh token that is not used after all. If it
// is not the valid one, its session ends all the same.
func (s *sessions) refuse(ctx context.Context, token string, reason error) error {
	session, err := s.use(ctx, token, func(sluice.Session) (*sluice.Session, error) { return nil, reason })
	if err == nil && session == nil {
		return deadRefresh()
	}
	return err
}

// use changes the session of a refresh token if it is the valid one, and ends
// the session if it is not.
func (s *sessions) use(ctx context.Context, token string, change func(sluice.Session) (*sluice.Session, error)) (*sluice.Session, error) {
	id, _ := parseRefresh(token)
	session, err := s.records.Change(ctx, id, func(before *sluice.Session, _ map[string]*sluice.Session) (*sluice.Session, error) {
		switch {
		case before == nil:
			return nil, errUnchanged
		case !isCurrent(before, token):
			return nil, nil
		}
		return change(*before)
	})
	if errors.Is(err, errUnchanged) {
		return nil, nil
	}
	return session, err
}

// end ends a session.
func (s *sessions) end(ctx context.Context, id string) error {
	_, err := s.records.Change(ctx, id, func(before *sluice.Session, _ map[string]*sluice.Session) (*sluice.Session, error) {
		if before == nil {
			return nil, errUnchanged
		}
		return nil, nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// parseRefresh gives the id of the session that a refresh token is of.
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

func hashRefresh(token string) string {
	hash := sha256.Sum256([]byte(token))
	return hex.EncodeToString(hash[:])
}

func isCurrent(s *sluice.Session, token string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Hash), []byte(hashRefresh(token))) == 1
}

// random gives a text that nobody can guess.
func random(size int) string {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// isRandom tells whether a text has the form that random gives.
func isRandom(s string, size int) bool {
	if len(s) != base64.RawURLEncoding.EncodedLen(size) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil
}
