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
	idleTime    = 2 * time.Hour    // an unused session ends after this
	longestTime = 12 * time.Hour   // any session ends after this
	seenEvery   = 5 * time.Minute  // how often the last use is stored
	signInTime  = 10 * time.Minute // how long signing in at the provider may take
	linkTime    = time.Hour        // how long a link signs in
	maxSessions = 50               // of one user; a new one ends the oldest
)

// sessions knows the people who are signed in by a cookie. It stores only a hash.
type sessions struct {
	records sluice.Records[sluice.PortalSession]
	issuer  string // the provider where people sign in; "" if they have a password here
	secure  bool   // browsers reach the portal over https
}

// cookieName returns the name of a cookie. With the prefix __Host-, no other host
// and no page over plain HTTP can set it.
func (s *sessions) cookieName(name string) string {
	if s.secure {
		return "__Host-sluice-" + name
	}
	return "sluice-" + name
}

// setCookie sets a cookie. Scripts can't read it, and other sites can't send it except
// by linking here.
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

// begin starts a session under a new id, and ends the one that the browser had.
func (s *sessions) begin(w http.ResponseWriter, r *http.Request, session sluice.PortalSession) error {
	ctx := r.Context()
	if before := s.cookie(r, "session"); before != "" {
		if err := sluice.Remove(ctx, s.records, hashed(before)); err != nil {
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

// find returns the live session of a request, or nil. It notes the use if used is
// set.
func (s *sessions) find(r *http.Request, used bool) (*sluice.PortalSession, error) {
	id := s.cookie(r, "session")
	if id == "" || len(id) > 100 {
		return nil, nil
	}
	session, err := s.records.Get(r.Context(), hashed(id))
	if err != nil || session == nil || over(session, time.Now()) || !s.counts(session) {
		return nil, err
	}
	if !used || time.Since(session.Seen) < seenEvery {
		return session, nil
	}
	return session, s.touch(r.Context(), session.ID)
}

// counts reports whether a session began where people still sign in. A provider that
// was replaced is no longer trusted. A link is no session.
func (s *sessions) counts(session *sluice.PortalSession) bool {
	return !session.Link && session.External == (s.issuer != "") && session.Issuer == s.issuer
}

// over reports whether a session has expired.
func over(session *sluice.PortalSession, now time.Time) bool {
	return now.Sub(session.Seen) > idleTime || now.Sub(session.Created) > longestTime || session.Link && now.Sub(session.Created) > linkTime
}

// touch stores the time of a session's last use.
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
	return nil // people can still read while nothing can be written
}

// sweep deletes a few expired sessions, and the oldest of a user who has too many.
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
		if err := sluice.Remove(ctx, s.records, id); err != nil {
			return err
		}
	}
	return nil
}

// NewLink returns the path of a page that signs a browser in as one of our own users, once and
// within an hour. A new password makes it worthless.
func NewLink(ctx context.Context, records sluice.Records[sluice.PortalSession], username string) (string, error) {
	code, now := random(), time.Now().UTC()
	link := sluice.PortalSession{ID: hashed(code), Username: username, Created: now, Seen: now, Link: true}
	_, err := records.Change(ctx, link.ID, func(*sluice.PortalSession, map[string]*sluice.PortalSession) (*sluice.PortalSession, error) {
		return &link, nil
	})
	return linkPath + code, err
}

// use ends a link, and returns whom it signs in; "" if it was used or is too old.
func (s *sessions) use(ctx context.Context, code string) (username string, err error) {
	_, err = s.records.Change(ctx, hashed(code), func(before *sluice.PortalSession, _ map[string]*sluice.PortalSession) (*sluice.PortalSession, error) {
		username = ""
		if before == nil || !before.Link {
			return nil, sluice.ErrUnchanged
		}
		if !over(before, time.Now()) {
			username = before.Username
		}
		return nil, nil
	})
	return username, sluice.Changed(err)
}

// EndSessions signs one of our own users out everywhere.
func EndSessions(ctx context.Context, records sluice.Records[sluice.PortalSession], username string) error {
	for _, session := range records.All() {
		if session.Username == username && !session.External {
			if err := sluice.Remove(ctx, records, session.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// user returns the signed-in user with their current permissions.
func (p *Portal) user(w http.ResponseWriter, r *http.Request) (sluice.User, error) {
	session, err := p.sessions.find(r, r.URL.Path != sluice.LivePath) // a page left open does not keep the session alive
	if err != nil {
		return sluice.User{}, err
	}
	if session == nil {
		return sluice.User{}, sluice.Errorf(sluice.CodeSignedOut, "Nobody is signed in.")
	}
	id := sluice.Identity{Username: session.Username}
	if session.External {
		id.Roles = append([]string{}, session.Roles...) // not nil, which would mean one of our own users
	}
	user, err := p.Identify(r.Context(), id)
	if err != nil {
		if sluice.AsError(err).Kind == sluice.Unauthenticated {
			p.sessions.setCookie(w, "session", "", 0)
			if failed := sluice.Remove(r.Context(), p.Sessions, session.ID); failed != nil {
				err = failed
			}
		}
		return sluice.User{}, err
	}
	user.Address = r.RemoteAddr
	return user, nil
}
