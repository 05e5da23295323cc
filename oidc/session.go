package oidc

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice"
)

// sessions is the store of logins.
type sessions struct {
	records sluice.Records[sluice.Session]
	now     func() time.Time
	reused  func(context.Context, *sluice.Session) // called for sessions that end because a token was used twice

	mu    sync.Mutex
	swept time.Time // when dead sessions were last looked for
}

// open stores a new session and returns the refresh token for it.
func (s *sessions) open(
	ctx context.Context, session sluice.Session, lifetime time.Duration,
) (*sluice.Session, string, error) {
	family, key := random(familySize), sluice.RandomBytes(familySize)
	token := newRefresh(family, key)
	session.Hash, session.MACKey = sluice.HashSecret(token), key
	kept, err := s.store(ctx, family, session, lifetime)
	return kept, token, err
}

// store stores a new session under its family.
func (s *sessions) store(
	ctx context.Context, family string, session sluice.Session, lifetime time.Duration,
) (*sluice.Session, error) {
	if err := s.sweep(ctx); err != nil {
		return nil, err
	}
	session.ID = sessionID(family)
	session.Created = s.now().UTC()
	session.Expires = session.Created.Add(lifetime)
	return &session, sluice.Put(ctx, s.records, session.ID, &session)
}

// ofFamily returns the session that a refresh token was issued for, whether the token is
// the valid one or an earlier one; nil if there is no such session.
func (s *sessions) ofFamily(ctx context.Context, token string) (*sluice.Session, error) {
	id, ok := parseRefresh(token)
	if !ok {
		return nil, nil
	}
	session, err := s.get(ctx, id)
	if err != nil || session == nil || !wasIssued(session, token) {
		return nil, err
	}
	return session, nil
}

// get returns a session that is alive, or nil.
func (s *sessions) get(ctx context.Context, id string) (*sluice.Session, error) {
	session, err := s.records.Get(ctx, id)
	if err != nil || session == nil || !s.now().Before(session.Expires) {
		return nil, err
	}
	return session, nil
}

// find returns the session of a valid refresh token, or nil. It changes nothing.
func (s *sessions) find(ctx context.Context, token string) (*sluice.Session, error) {
	session, err := s.ofFamily(ctx, token)
	if err != nil || session == nil || isCurrent(session, token) {
		return session, err
	}
	// Another node may just have replaced the token. An abandoned change sees what is
	// stored now.
	var latest *sluice.Session
	_, err = sluice.Replace(ctx, s.records, session.ID, func(before *sluice.Session) (*sluice.Session, error) {
		latest = before
		return nil, sluice.ErrUnchanged
	})
	if err != nil || latest == nil || !isCurrent(latest, token) {
		return nil, err
	}
	return latest, nil
}

// accept returns the session of a refresh token without using up the token. If it is not
// the valid one, the session ends and accept returns nil.
func (s *sessions) accept(ctx context.Context, token string) (*sluice.Session, error) {
	session, err := s.ofFamily(ctx, token)
	if err != nil || session == nil || isCurrent(session, token) {
		return session, err
	}
	var latest *sluice.Session
	_, err = s.use(ctx, token, func(before sluice.Session) (*sluice.Session, error) {
		latest = &before
		return nil, sluice.ErrUnchanged
	})
	return latest, err
}

// rotate replaces a refresh token by a new one. If it is not the valid one, the session
// ends and rotate returns nil.
func (s *sessions) rotate(ctx context.Context, token string) (session *sluice.Session, renewed string, err error) {
	family, _, _ := strings.Cut(token, ".")
	session, err = s.use(ctx, token, func(before sluice.Session) (*sluice.Session, error) {
		renewed = newRefresh(family, before.MACKey)
		before.Hash = sluice.HashSecret(renewed)
		return &before, nil
	})
	return session, renewed, err
}

// refuse returns the error for a refresh token that is not used after all. If it is not
// the valid one, its session still ends.
func (s *sessions) refuse(ctx context.Context, token string, reason error) error {
	session, err := s.use(ctx, token, func(sluice.Session) (*sluice.Session, error) { return nil, reason })
	if err == nil && session == nil {
		return deadRefresh()
	}
	return err
}

// use changes the session of a refresh token if the token is the valid one, and ends the
// session if it is not. The caller must know that the token was issued.
func (s *sessions) use(
	ctx context.Context, token string, change func(sluice.Session) (*sluice.Session, error),
) (*sluice.Session, error) {
	id, _ := parseRefresh(token)
	var reused *sluice.Session
	session, err := sluice.Replace(ctx, s.records, id, func(before *sluice.Session) (*sluice.Session, error) {
		reused = nil
		switch {
		case before == nil:
			return nil, sluice.ErrUnchanged
		case !isCurrent(before, token):
			reused = before
			return nil, nil
		}
		return change(*before)
	})
	if err == nil && reused != nil {
		s.reused(ctx, reused)
	}
	return session, err
}

func (s *sessions) end(ctx context.Context, id string) error {
	return sluice.Remove(ctx, s.records, id)
}

const (
	sweepEvery  = time.Minute
	sweepAtOnce = 10   // sessions that one login cleans up
	maxSessions = 1000 // of one user; beyond that the oldest end
)

// sweep deletes a few sessions that are over, and the oldest ones of users who have too
// many. Each login does it, so that a program that logs in for every call can't fill the
// store.
func (s *sessions) sweep(ctx context.Context) error {
	if !s.mu.TryLock() {
		return nil // another login does it
	}
	defer s.mu.Unlock()
	now := s.now()
	if now.Sub(s.swept) < sweepEvery {
		return nil
	}
	over := s.over(now)
	if len(over) <= sweepAtOnce {
		s.swept = now
	}
	for _, id := range over[:min(len(over), sweepAtOnce)] {
		if err := s.end(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// over lists the sessions to delete.
func (s *sessions) over(now time.Time) (ids []string) {
	ofUser := make(map[string][]*sluice.Session)
	for _, session := range s.records.All() {
		if session.Expires.Add(leeway).Before(now) {
			ids = append(ids, session.ID)
		} else {
			ofUser[session.Username] = append(ofUser[session.Username], session)
		}
	}
	for _, live := range ofUser {
		if len(live) <= maxSessions {
			continue
		}
		slices.SortFunc(live, func(a, b *sluice.Session) int {
			return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
		})
		for _, session := range live[:len(live)-maxSessions] {
			ids = append(ids, session.ID)
		}
	}
	return ids
}

// EndSessions ends the sessions of a user, such as one who was deleted or has a
// new password, or those made through a client. Their tokens die at once.
func EndSessions(ctx context.Context, records sluice.Records[sluice.Session], username, clientID string) error {
	for _, session := range records.All() {
		if session.Username == username || session.ClientID == clientID {
			if err := sluice.Remove(ctx, records, session.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
