package correlation

import (
	"slices"
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

// TestIDsOfTodayHaveRoomForAPartition: given ids lead to the same events in every version. The
// bits for the number of a partition are 0 in all of them, as of today's only stream.
func TestIDsOfTodayHaveRoomForAPartition(t *testing.T) {
	const partitionBits = 8 // 256 streams, and 4 bits left to turn guesses away
	c := IDs{key: []byte("a key of the server, kept secret")}
	for id, want := range map[string]uint64{
		"1149d722-aa9d-80dd-aa03-4689e0568438": 8,
	} {
		if !c.Same(id, want, "abcdef:0123456789") {
			t.Errorf("%s does not lead to the event %d", id, want)
		}
		nonce, masked := unpack(uuid.MustParse(id))
		locator := masked ^ c.mask(nonce)
		if partition := locator >> (zeroBits - partitionBits) & (1<<partitionBits - 1); partition != 0 {
			t.Errorf("%s is of partition %d", id, partition)
		}
		// An id of another partition is none of this version's, rather than that of
		// another event.
		other := pack(nonce, (locator|3<<(zeroBits-partitionBits))^c.mask(nonce)).String()
		if _, ok := c.Parse(other); ok {
			t.Errorf("%s of another partition is read", other)
		}
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
	// One in 2^14 passes by chance: 12 of these are expected.
	if passed > 40 {
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
		gotSpool, gotPlace := got.Spooled()
		if !ok || gotSpool != spool || gotPlace != place || !c.Fits(got, traceID) || c.Fits(got, traceID+"x") {
			t.Fatalf("%s leads to %+v, %v; want %d in %d", id, got, ok, place, spool)
		}
		if _, ok := c.Parse(id); ok || !c.WasSpooled(id, traceID) || c.WasSpooled(c.ID(place, traceID), traceID) {
			t.Fatalf("%s is taken for another form", id)
		}
	})
}

// TestCursors: a cursor is read by those with its key, as it was made, and shows no number.
func TestCursors(t *testing.T) {
	ids := NewIDs([]byte("key"))
	cursor := ids.Cursor(7, 0, 1<<63)
	if place, ok := ids.Place(cursor, 3); !ok || !slices.Equal(place, []uint64{7, 0, 1 << 63}) {
		t.Errorf("it is %v, %v", place, ok)
	}
	changed := []byte(cursor)
	changed[len(changed)-1] ^= 1
	for name, place := range map[string]struct {
		ids    IDs
		cursor string
		count  int
	}{
		"another key":     {NewIDs([]byte("other")), cursor, 3},
		"changed":         {ids, string(changed), 3},
		"fewer numbers":   {ids, cursor, 2},
		"of another list": {ids, ids.Cursor(7, 0), 3},
		"no cursor":       {ids, "7-0-1", 3},
		"empty":           {ids, "", 3},
	} {
		if got, ok := place.ids.Place(place.cursor, place.count); ok {
			t.Errorf("%s: it is %v", name, got)
		}
	}
	if other := ids.Cursor(8, 0, 1<<63); other[:8] == cursor[:8] || other[12:20] == cursor[12:20] {
		t.Errorf("%s and %s look alike", cursor, other)
	}
}
