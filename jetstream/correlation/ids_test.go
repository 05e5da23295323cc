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
		got, ok := c.Parse(id)
		if !ok || got.Sequence != sequence || !c.Fits(got, traceID) || c.Fits(got, traceID+"x") {
			t.Fatalf("parse(%s) = %+v, %v; want %d", id, got, ok, sequence)
		}
		if !c.Same(id, sequence, traceID) || c.Same(id, sequence+1, traceID) {
			t.Fatalf("%s is taken for another one", id)
		}
	})
}

// TestTheFirstFormIsRead: ids that callers were given before stay good.
func TestTheFirstFormIsRead(t *testing.T) {
	c := IDs{key: []byte("a key of the server, kept secret")}
	nonce := c.Nonce("abcdef:0123456789")
	first := pack(nonce, 7<<(formBits+zeroBits)^c.mask(nonce)).String()
	if !c.Same(first, 7, "abcdef:0123456789") || c.Same(first, 7, "abcdef:9876543210") {
		t.Errorf("%s does not lead to its event", first)
	}
}

// TestAnIDIsNotDerivedFromAnother: events may share a trace id.
func TestAnIDIsNotDerivedFromAnother(t *testing.T) {
	c := IDs{key: []byte("a key of the server, kept secret")}
	mine := uuid.MustParse(c.ID(7, "abcdef:0123456789"))
	nonce, locator := unpack(mine)
	derived := pack(nonce, locator^(7^8)<<(formBits+zeroBits)).String() // as of the next event
	r, ok := c.Parse(derived)
	if !ok || r.Sequence != 8 {
		t.Fatalf("the test derives %+v, %v", r, ok)
	}
	if c.Fits(r, "abcdef:0123456789") {
		t.Error("the id of one event leads to that of another")
	}
}

func TestCorrelationIDsCantBeMadeUp(t *testing.T) {
	c := IDs{key: []byte("a key of the server, kept secret")}
	const guesses = 200_000
	passed := 0
	for range guesses {
		u := uuid.New()
		u[6] = u[6]&0x0f | 0x80
		if _, ok := c.Parse(u.String()); ok {
			passed++
		}
	}
	// Two in 2^14 pass by chance: 24 of these are expected.
	if passed > 60 {
		t.Errorf("%d of %d guessed ids passed the check", passed, guesses)
	}
	for _, id := range []string{"", "x", uuid.NewString(), "{" + c.ID(1, "t") + "}", c.ID(1, "t") + "0"} {
		if _, ok := c.Parse(id); ok {
			t.Errorf("parse(%q) succeeded", id)
		}
	}
}

// TestTheIDOfASpooledEvent leads to its place in the spool, is no id of another
// form, and can't be made of another one.
func TestTheIDOfASpooledEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := IDs{key: rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")}
		spool := rapid.Uint64Range(0, 1<<SpoolBits-1).Draw(t, "spool")
		place := rapid.Uint64Range(1, 1<<placeBits-1).Draw(t, "place")
		traceID := rapid.String().Draw(t, "traceId")

		id := c.SpooledID(spool, place, traceID)
		got, ok := c.ParseSpooled(id)
		if !ok || got.Spool != spool || got.Place != place || !c.FitsSpooled(got, traceID) || c.FitsSpooled(got, traceID+"x") {
			t.Fatalf("%s leads to %+v, %v; want %d in %d", id, got, ok, place, spool)
		}
		if _, ok := c.Parse(id); ok || !c.WasSpooled(id, traceID) || c.WasSpooled(c.ID(place, traceID), traceID) {
			t.Fatalf("%s is taken for another form", id)
		}
	})
}
