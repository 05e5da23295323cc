package portal

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"time"

	"sluice"
)

const (
	idleTime    = 2 * time.Hour    // after which an unused session is over
	longestTime = 12 * time.Hour   // after which any session is over
	seenEvery   = 5 * time.Minute  // how exactly the last use is known
	signInTime  = 10 * time.Minute // for the way to the provider and back
	maxSessions = 50               // of one user; beyond that the oldest end
)

// sessions are the people who are signed in, known by a cookie of which only the
// hash is stored.
type sessions struct {
	records sluice.Records[sluice.PortalSession]
	issuer  string // of the provider at which people sign in; "": they have a password here
	secure  bool   // browsers reach the portal by https
}

// cookieName returns the name of a cookie. With the prefix no other host, and
// no page that came by plain HTTP, can set it.
func (s *sessions) cookieName(name string) string {
	if s.secure {
		return "__Host-sluice-" + name
	}
	return "sluice-" + name
}

// setCookie gives a browser a cookie that no script reads and no other site
// sends along, except with links that lead here.
func (s *sessions) setCookie(w http.ResponseWriter, name, value string, lifetime time.Duration) {
	cookie := &http.Cookie{ //nolint:gosec // plain HTTP has cookies, too
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: int(lifetime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.secure,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// cookie returns the value of a cookie, "" if there is none.
func (s *sessions) cookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(s.cookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// random returns 256 random bits as text.
func random() string {
	id := make([]byte, 32)
	_, _ = rand.Read(id) // never fails
	return base64.RawURLEncoding.EncodeToString(id)
}

func hashed(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// begin begins a session under a new id, whatever the browser had before.
func (s *sessions) begin(ctx context.Context, w http.ResponseWriter, r *http.Request, session sluice.PortalSession) error {
	if before := s.cookie(r, "session"); before != "" {
		if err := s.end(ctx, hashed(before)); err != nil {
			return err
		}
	}
	if err := s.sweep(ctx, session.Username); err != nil {
		return err
	}
	id := random()
	session.ID = hashed(id)
	session.Created = time.Now().UTC()
	session.Seen = session.Created
	_, err := s.records.Change(ctx, session.ID, func(*sluice.PortalSession, map[string]*sluice.PortalSession) (*sluice.PortalSession, error) {
		return &session, nil
	})
	if err == nil {
		s.setCookie(w, "session", id, longestTime)
	}
	return err
}

// find returns the session of a request, nil if there is none that is alive,
// and notes that it is used, if it is.
func (s *sessions) find(ctx context.Context, r *http.Request, used bool) (*sluice.PortalSession, error) {
	id := s.cookie(r, "session")
	if id == "" || len(id) > 100 {
		return nil, nil
	}
	session, err := s.records.Get(ctx, hashed(id))
	if err != nil || session == nil || over(session, time.Now()) || !s.counts(session) {
		return nil, err
	}
	if !used || time.Since(session.Seen) < seenEvery {
		return session, nil
	}
	return session, s.touch(ctx, session.ID)
}

// counts reports whether people still sign in where a session began: what a provider
// said that is not trusted any more is worth nothing.
func (s *sessions) counts(session *sluice.PortalSession) bool {
	return session.External == (s.issuer != "") && session.Issuer == s.issuer
}

// over reports whether a session has expired.
func over(session *sluice.PortalSession, now time.Time) bool {
	return now.Sub(session.Seen) > idleTime || now.Sub(session.Created) > longestTime
}

// touch notes that a session is used.
func (s *sessions) touch(ctx context.Context, id string) error {
	_, err := s.records.Change(ctx, id, func(before *sluice.PortalSession, _ map[string]*sluice.PortalSession) (*sluice.PortalSession, error) {
		if before == nil {
			return nil, sluice.ErrUnchanged // just ended
		}
		after := *before
		after.Seen = time.Now().UTC()
		return &after, nil
	})
	if err != nil && !errors.Is(err, sluice.ErrUnchanged) && sluice.AsError(err).Kind != sluice.Unavailable {
		return err
	}
	return nil // while nothing can be written, people can still look
}

// end ends a session.
func (s *sessions) end(ctx context.Context, id string) error {
	return sluice.Remove(ctx, s.records, id)
}

// sweep deletes a few sessions that are over, and the oldest of a user who has
// too many.
func (s *sessions) sweep(ctx context.Context, username string) error {
	const atOnce = 10
	var ended []string
	var live []*sluice.PortalSession
	for _, session := range s.records.All() {
		switch {
		case over(session, time.Now()):
			ended = append(ended, session.ID)
		case session.Username == username:
			live = append(live, session)
		}
	}
	slices.SortFunc(live, func(a, b *sluice.PortalSession) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	for _, session := range live[:max(0, len(live)-maxSessions+1)] {
		ended = append(ended, session.ID)
	}
	for _, id := range ended[:min(len(ended), atOnce)] {
		if err := s.end(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// EndSessions signs one of our own users out everywhere.
func EndSessions(ctx context.Context, records sluice.Records[sluice.PortalSession], username string) error {
	all := sessions{records: records}
	for _, session := range records.All() {
		if session.Username == username && !session.External {
			if err := all.end(ctx, session.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
