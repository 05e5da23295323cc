package webhook

import (
	"strconv"
	"testing"
)

// TestMoreGuardsThanAreKept: a new guard takes the place of one, not of all, and a
// new version of a guard takes its own.
func TestMoreGuardsThanAreKept(t *testing.T) {
	g := NewGuards(GuardOptions{})
	for i := range maxGuards + 10 {
		g.keep(strconv.Itoa(i), new(guard))
		if want := min(i+1, maxGuards); len(g.kept) != want {
			t.Fatalf("of %d guards %d are kept", i+1, len(g.kept))
		}
	}
	for token := range g.kept {
		made := new(guard)
		g.keep(token, made)
		if g.kept[token] != made || len(g.kept) != maxGuards {
			t.Fatalf("a new version leaves %d guards", len(g.kept))
		}
		break
	}
}
