package work

import (
	"fmt"
	"testing"

	"sluice"
	"sluice/limit"
)

// TestTakersHaveShares: so many calls wait for work, of each user and of all, and who goes makes place.
func TestTakersHaveShares(t *testing.T) {
	takers := workers{takers: limit.NewPlaces(maxTakersPerUser, maxTakers)}
	var leave func()
	for i := range maxTakers {
		var err error
		if leave, err = takers.wait(fmt.Sprint("u", i/maxTakersPerUser)); err != nil {
			t.Fatalf("taker %d: %v", i, err)
		}
	}
	refused := func(user string, code sluice.Code) {
		t.Helper()
		if _, err := takers.wait(user); !code.Is(err) || sluice.AsError(err).RetryAfter == 0 {
			t.Errorf("%s is told %v", user, err)
		}
	}
	refused("u0", sluice.CodeTooManyCalls)
	refused("another", sluice.CodeOverloaded)
	leave()
	if _, err := takers.wait("another"); err != nil {
		t.Errorf("there is no place after one was left: %v", err)
	}
}
