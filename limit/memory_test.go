package limit

import (
	"net/http/httptest"
	"strings"
	"testing"

	"sluice"
)

func TestLargeBodiesShareABudget(t *testing.T) {
	large := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 100_000)))
	chunked := httptest.NewRequest("POST", "/", strings.NewReader("x"))
	chunked.ContentLength = -1
	little := httptest.NewRequest("POST", "/", strings.NewReader("x"))

	b := NewBudget(250_000)
	first, err := b.Reserve(large, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reserve(large, 4<<20); err != nil {
		t.Fatal(err)
	}
	for what, limit := range map[string]int{"a third one": 4 << 20, "one that is not told": 150_001} {
		r := large
		if what != "a third one" {
			r = chunked
		}
		if _, err := b.Reserve(r, limit); err == nil || sluice.AsError(err).Kind != sluice.Unavailable {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if _, err := b.Reserve(little, 4<<20); err != nil {
		t.Errorf("a small body is refused too: %v", err)
	}
	first()
	if _, err := b.Reserve(large, 4<<20); err != nil {
		t.Errorf("what was released is not free again: %v", err)
	}
}
