package trust

import (
	"strconv"
	"testing"
)

// TestMoreGuardsThanAreKept: a new trust takes the place of one, not of all, and a
// new version of a trust takes its own.
func TestMoreGuardsThanAreKept(t *testing.T) {
	g := New(Options{})
	for i := range maxTrusts + 10 {
		g.keep(strconv.Itoa(i), new(Trust))
		if want := min(i+1, maxTrusts); len(g.kept) != want {
			t.Fatalf("of %d trusts %d are kept", i+1, len(g.kept))
		}
	}
	for token := range g.kept {
		made := new(Trust)
		g.keep(token, made)
		if g.kept[token] != made || len(g.kept) != maxTrusts {
			t.Fatalf("a new version leaves %d trusts", len(g.kept))
		}
		break
	}
}
