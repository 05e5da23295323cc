package page

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
)

const (
	idleTime    = 2 * time.Hour   // an unused session ends after this
	longestTime = 12 * time.Hour  // any session ends after this
	seenEvery   = 5 * time.Minute // how often the last use is stored
	linkTime    = time.Hour       // how long a link signs in
	maxSessions = 50              // of one user; a new one ends the oldest
)

// Begin starts a session under a new id, and ends the one that the browser had.
func (v *Visit) Begin(session sluice.PortalSession) error {
	if err := v.End(); err != nil {
		return err
	}
	ctx := v.R.Context()
	if err := v.sweep(ctx, session.Username); err != nil {
		return err
	}
	id := Random()
	session.ID = sluice.HashSecret(id)
	session.Created = time.Now().UTC()
	session.Seen = session.Created
	err := sluice.Put(ctx, v.Sessions, session.ID, &session)
	if err == nil {
		v.SetCookie("session", id, longestTime)
	}
	return err
}

// End ends the session of the browser, if there is one.
func (v *Visit) End() error {
	id := v.Cookie("session")
	if id == "" {
		return nil
	}
	return sluice.Remove(v.R.Context(), v.Sessions, sluice.HashSecret(id))
}

// Session returns the live session of the browser, or nil.
func (v *Visit) Session() (*sluice.PortalSession, error) {
	id := v.Cookie("session")
	if id == "" || len(id) > 100 {
		return nil, nil
	}
	session, err := v.Sessions.Get(v.R.Context(), sluice.HashSecret(id))
	if err != nil || session == nil || over(session, time.Now()) || !v.counts(session) {
		return nil, err
	}
	return session, nil
}

// counts reports whether a session began where people still sign in. A provider that
// was replaced is no longer trusted. A link is no session.
func (s *Site) counts(session *sluice.PortalSession) bool {
	return !session.Link && session.External == (s.Issuer != "") && session.Issuer == s.Issuer
}

// over reports whether a session has expired.
func over(session *sluice.PortalSession, now time.Time) bool {
	age := now.Sub(session.Created)
	return now.Sub(session.Seen) > idleTime || age > longestTime || session.Link && age > linkTime
}

// touch stores that a session is used, now and then. A page left open does not use it.
func (v *Visit) touch(session *sluice.PortalSession) error {
	if time.Since(session.Seen) < seenEvery || v.R.URL.Path == sluice.LivePath {
		return nil
	}
	_, err := sluice.Edit(v.R.Context(), v.Sessions, session.ID, sluice.ErrUnchanged,
		func(used *sluice.PortalSession) error {
			used.Seen = time.Now().UTC()
			return nil
		})
	return Ignoring(err, sluice.Unavailable) // people can still read while nothing can be written
}

// sweep deletes a few expired sessions, and the oldest of a user who has too many.
func (s *Site) sweep(ctx context.Context, username string) error {
	const atOnce = 10
	var ended []string
	var live []*sluice.PortalSession
	for _, session := range s.Sessions.All() {
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
		if err := sluice.Remove(ctx, s.Sessions, id); err != nil {
			return err
		}
	}
	return nil
}

// LinkPath leads to what signs in without a password, see NewLink.
const LinkPath = "/signin/link/"

// NewLink returns the path of a page that signs a browser in as one of our own users, once and
// within an hour. A new password makes it worthless.
func NewLink(ctx context.Context, records sluice.Records[sluice.PortalSession], username string) (string, error) {
	code, now := Random(), time.Now().UTC()
	link := sluice.PortalSession{ID: sluice.HashSecret(code), Username: username, Created: now, Seen: now, Link: true}
	return LinkPath + code, sluice.Put(ctx, records, link.ID, &link)
}

// UseLink ends a link, and returns whom it signs in; "" if it was used or is too old.
func (s *Site) UseLink(ctx context.Context, code string) (username string, err error) {
	_, err = s.Sessions.Change(ctx, sluice.HashSecret(code),
		func(before *sluice.PortalSession, _ map[string]*sluice.PortalSession) (*sluice.PortalSession, error) {
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

// SignedIn finds the user who is signed in, with their current permissions.
func (v *Visit) SignedIn() error {
	session, err := v.Session()
	if err == nil && session == nil {
		err = sluice.CodeSignedOut.Errorf("Nobody is signed in.")
	}
	if err == nil {
		err = v.touch(session)
	}
	if err != nil {
		return err
	}
	id := sluice.Identity{Username: session.Username}
	if session.External {
		id.Roles = append([]string{}, session.Roles...) // not nil, which would mean one of our own users
	}
	user, err := v.Identify(v.R.Context(), id)
	if err != nil {
		if sluice.Unauthenticated.Is(err) {
			v.SetCookie("session", "", 0)
			if failed := sluice.Remove(v.R.Context(), v.Sessions, session.ID); failed != nil {
				err = failed
			}
		}
		return err
	}
	user.Address = v.R.RemoteAddr
	v.User, v.R = user, v.R.WithContext(sluice.WithUser(v.R.Context(), user))
	return nil
}

// askToSignIn sends a browser to the sign-in page, which leads back to this one.
func (v *Visit) askToSignIn() error {
	target := "/signin"
	if v.R.Method == http.MethodGet && v.R.URL.Path != "/" && !strings.HasPrefix(v.R.URL.Path, sluice.LivePath) {
		target += "?next=" + url.QueryEscape(v.R.URL.RequestURI())
	}
	return v.Redirect(target)
}
