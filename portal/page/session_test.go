package page

import (
	"testing"
	"time"

	"sluice"
)

// TestSessionsEnd: a session is over when it was not used for long, and some
// time after the sign-in in any case.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		created, seen time.Duration // ago
		over          bool
	}{
		"new":                    {0, 0, false},
		"in use":                 {11 * time.Hour, time.Minute, false},
		"not used for a while":   {3 * time.Hour, 119 * time.Minute, false},
		"not used for long":      {3 * time.Hour, 121 * time.Minute, true},
		"used, but for too long": {12*time.Hour + time.Minute, 0, true},
	} {
		session := &sluice.PortalSession{Created: now.Add(-test.created), Seen: now.Add(-test.seen)}
		if over(session, now) != test.over {
			t.Errorf("%s: over is %v", name, !test.over)
		}
	}
}

// TestLinksAndSessionsEnd: an unused link is good for an hour, and never a session.
func TestLinksAndSessionsEnd(t *testing.T) {
	now := time.Now()
	link := &sluice.PortalSession{Link: true, Created: now, Seen: now}
	session := &sluice.PortalSession{Created: now, Seen: now}
	if over(link, now.Add(linkTime-1)) || !over(link, now.Add(linkTime+1)) || over(session, now.Add(linkTime+1)) {
		t.Error("a link does not last for an hour, or a session does not last longer")
	}
	if s := new(Site); s.counts(link) || !s.counts(session) {
		t.Error("a link counts as a session, or a session does not")
	}
}
