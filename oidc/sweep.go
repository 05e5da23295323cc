package oidc

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice"
)

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
