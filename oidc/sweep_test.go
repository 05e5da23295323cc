package oidc

import (
	"fmt"
	"testing"
	"time"

	"sluice"
)

func TestSessionsThatAreOverAreDeleted(t *testing.T) {
	f := newFixture(t)
	for range 2*sweepAtOnce + 1 {
		f.login("")
	}
	f.wait(f.RefreshTTL + 2*leeway)
	for want := sweepAtOnce + 2; want > 2; want -= sweepAtOnce - 1 {
		f.login("")
		if n := len(f.Sessions.All()); n != want {
			t.Fatalf("%d sessions are left, want %d", n, want)
		}
	}
}

func TestSessionsOfAUserAreBounded(t *testing.T) {
	records := new(listed[sluice.Session])
	for n := range maxSessions + 3 {
		id := fmt.Sprint(n)
		records.records = append(records.records, &sluice.Session{ID: id, Username: userName, Created: time.Unix(int64(n), 0), Expires: time.Now().Add(time.Hour)})
	}
	records.records = append(records.records, &sluice.Session{ID: "other", Username: "bert", Expires: time.Now().Add(time.Hour)})
	s := &sessions{records: records, now: time.Now}
	if got := fmt.Sprint(s.over(time.Now())); got != "[0 1 2]" {
		t.Errorf("to be deleted: %s", got)
	}
}
