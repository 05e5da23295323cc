package api

import (
	"strconv"
	"testing"
	"time"

	"sluice"
)

// waitOf returns the wait that a refused poll is told, 0 for one that is in
// time.
func waitOf(t *testing.T, err error) time.Duration {
	t.Helper()
	if err == nil {
		return 0
	}
	e := sluice.AsError(err)
	if e.Code != "polling-too-often" {
		t.Fatalf("refused with %v", err)
	}
	return e.RetryAfter
}

// TestEarlyPolls: polls must be 5 s apart; each early one adds 5 s, up to 10
// minutes, and one in time starts anew.
func TestEarlyPolls(t *testing.T) {
	p := newPolls()
	begun := time.Now()
	for i, poll := range []struct{ at, wait time.Duration }{
		{0, 0},
		{5 * time.Second, 0},
		{9 * time.Second, 6 * time.Second},
		{9 * time.Second, 11 * time.Second},
		{19 * time.Second, 6 * time.Second},
		{25 * time.Second, 0},
		{29 * time.Second, 6 * time.Second},
		{35 * time.Second, 0},
	} {
		if wait := waitOf(t, p.try("a", begun.Add(poll.at))); wait != poll.wait {
			t.Errorf("poll %d is told to wait %s, want %s", i, wait, poll.wait)
		}
	}
	var longest time.Duration
	for range 1000 {
		longest = max(longest, waitOf(t, p.try("b", begun)))
	}
	if longest != 10*time.Minute {
		t.Errorf("the wait grows to %s, want 10m", longest)
	}
	if wait := waitOf(t, p.try("b", begun.Add(10*time.Minute))); wait != 0 {
		t.Errorf("a poll in time is told to wait %s", wait)
	}
	if wait := waitOf(t, p.try("c", begun)); wait != 0 {
		t.Errorf("another result is told to wait %s", wait)
	}
}

// TestPollsAreForgotten: nobody is refused because someone else polls for more
// results than are remembered.
func TestPollsAreForgotten(t *testing.T) {
	p := newPolls()
	now := time.Now()
	for i := range maxPolled + 10 {
		if err := p.try(strconv.Itoa(i), now); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHeldAtOnce: one poll of a result is held, and so many in all.
func TestHeldAtOnce(t *testing.T) {
	p := newPolls()
	release, err := p.hold("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.hold("a"); waitOf(t, err) != sluice.PollInterval {
		t.Errorf("a second one is told %v", err)
	}
	release()
	for i := range maxHeld {
		if _, err := p.hold(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.hold("a"); sluice.AsError(err).Code != "overloaded" {
		t.Errorf("one more than are held is told %v", err)
	}
}
