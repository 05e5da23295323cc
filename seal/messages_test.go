package seal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"sluice/seal"
)

// TestMessages: a message opens with its key and for its name only, also once another key
// seals, and one that was never sealed is as it was.
func TestMessages(t *testing.T) {
	t.Parallel()
	key := func(fill byte) []byte { return bytes.Repeat([]byte{fill}, seal.KeySize) }
	earlier, err := seal.NewMessages(key(1))
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"card":"4242"}`)
	sealed := earlier.Seal([]byte("space "), "a.name", text)
	if !bytes.HasPrefix(sealed, []byte("space ")) || bytes.Contains(sealed, []byte("4242")) || len(sealed) != 6+len(text)+seal.Overhead {
		t.Errorf("it is sealed as %q", sealed)
	}
	sealed = sealed[6:]
	now, err := seal.NewMessages(key(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := now.Open("a.name", sealed); !errors.Is(err, seal.ErrOtherKey) {
		t.Errorf("with another key it gives %v", err)
	}
	if err := now.Learn(key(1)); err != nil {
		t.Fatal(err)
	}
	for _, message := range [][]byte{sealed, now.Seal(nil, "a.name", text), text} {
		if opened, err := now.Open("a.name", message); err != nil || !bytes.Equal(opened, text) {
			t.Errorf("%q opens as %q (%v)", message, opened, err)
		}
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-20] ^= 1
	for name, message := range map[string][]byte{"another name": sealed, "a.name": changed, "a.name ": sealed[:seal.Overhead-1]} {
		if _, err := now.Open(strings.TrimSpace(name), message); !errors.Is(err, seal.ErrOtherKey) {
			t.Errorf("for %s, %d bytes: %v", name, len(message), err)
		}
	}
	if err := now.Learn(nil); err == nil {
		t.Error("a key may be empty")
	}
}
