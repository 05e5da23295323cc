package limit

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestBurstAndInterval: a burst is free, then one try is given back an interval.
func TestBurstAndInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewTries(3, time.Minute)
		for i := range 3 {
			if wait := l.Try("a"); wait != 0 {
				t.Fatalf("try %d has to wait %s", i, wait)
			}
		}
		if wait := l.Try("a"); wait != time.Minute {
			t.Errorf("the try beyond the burst has to wait %s, want a minute", wait)
		}
		if wait := l.Try("b"); wait != 0 {
			t.Errorf("another key has to wait %s", wait)
		}
		time.Sleep(20 * time.Second) // of the bubble's clock
		if wait := l.Try("a"); wait != 40*time.Second {
			t.Errorf("it has to wait %s, want 40s: a refused try must not count", wait)
		}
		time.Sleep(40 * time.Second)
		if wait := l.Try("a"); wait != 0 {
			t.Errorf("after the wait it has to wait %s again", wait)
		}
		if wait := l.Try("a"); wait != time.Minute {
			t.Errorf("one interval gives back more than one try: wait is %s", wait)
		}
	})
}

// TestBurstComesBack: who waits long enough has the whole burst again, not more.
func TestBurstComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewTries(3, time.Minute)
		for range 5 {
			l.Try("a")
		}
		time.Sleep(time.Hour)
		for i := range 3 {
			if wait := l.Try("a"); wait != 0 {
				t.Fatalf("try %d has to wait %s", i, wait)
			}
		}
		if l.Try("a") == 0 {
			t.Error("an hour gives more than the burst")
		}
	})
}

// TestNetwork: IPv4 addresses count one by one, IPv6 by their network.
func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1":          "192.0.2.1",
		"::ffff:192.0.2.1":   "::ffff:192.0.2.1",
		"2001:db8:1:2:3::4":  "2001:db8:1:2::/64",
		"2001:db8:1:2:ff::1": "2001:db8:1:2::/64",
		"2001:db8:1:3::1":    "2001:db8:1:3::/64",
		"::1":                "::/64",
		"":                   "",
		"no address":         "no address",
	} {
		if got := Network(address); got != want {
			t.Errorf("the network of %q is %q, want %q", address, got, want)
		}
	}
}
