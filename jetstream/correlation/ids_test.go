package correlation

import (
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestCorrelationIDFindsItsEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := IDs{key: rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")}
		sequence := rapid.Uint64Range(1, 1<<sequenceBits-1).Draw(t, "sequence")
		traceID := rapid.String().Draw(t, "traceId")

		id := c.ID(sequence, traceID)
		if u := uuid.MustParse(id); u.Version() != 8 || u.Variant() != uuid.RFC4122 {
			t.Fatalf("%s is version %d, variant %s", id, u.Version(), u.Variant())
		}
		got, nonce, ok := c.Parse(id)
		if !ok || got != sequence || nonce != c.Nonce(traceID) {
			t.Fatalf("parse(%s) = %d, %x, %v; want %d, %x", id, got, nonce, ok, sequence, c.Nonce(traceID))
		}
	})
}

func TestCorrelationIDsCantBeMadeUp(t *testing.T) {
	c := IDs{key: []byte("a key of the server, kept secret")}
	const guesses = 200_000
	passed := 0
	for range guesses {
		u := uuid.New()
		u[6] = u[6]&0x0f | 0x80
		if _, _, ok := c.Parse(u.String()); ok {
			passed++
		}
	}
	// One in 2^14 passes by chance: 12 of these are expected.
	if passed > 40 {
		t.Errorf("%d of %d guessed ids passed the check", passed, guesses)
	}
	for _, id := range []string{"", "x", uuid.NewString(), "{" + c.ID(1, "t") + "}", c.ID(1, "t") + "0"} {
		if _, _, ok := c.Parse(id); ok {
			t.Errorf("parse(%q) succeeded", id)
		}
	}
}
