package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"sluice"
	"sluice/seal"
)

func box(t *testing.T, fill byte) *seal.Box {
	t.Helper()
	b, err := seal.New(bytes.Repeat([]byte{fill}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSealed: a value opens with its key and for its name only, and its bytes
// tell nothing.
func TestSealed(t *testing.T) {
	b, value := box(t, 1), []byte("a value")
	sealed := b.Seal("name", value)
	if got, err := b.Open("name", sealed); err != nil || !bytes.Equal(got, value) {
		t.Errorf("opened %q, %v", got, err)
	}
	if bytes.Contains(sealed, value) || bytes.Equal(sealed, b.Seal("name", value)) {
		t.Errorf("sealed as %q", sealed)
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)/2] ^= 1
	for what, open := range map[string]func() ([]byte, error){
		"another key":  func() ([]byte, error) { return box(t, 2).Open("name", sealed) },
		"another name": func() ([]byte, error) { return b.Open("other", sealed) },
		"a change":     func() ([]byte, error) { return b.Open("name", changed) },
		"nothing":      func() ([]byte, error) { return b.Open("name", nil) },
	} {
		if _, err := open(); !errors.Is(err, seal.ErrOtherKey) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestHash(t *testing.T) {
	want := box(t, 1).Hash("token")
	if again := box(t, 1); again.Hash("token") != want || again.Hash("tokem") == want || box(t, 2).Hash("token") == want {
		t.Error("a hash depends on more or less than key and token")
	}
}

func TestParseKey(t *testing.T) {
	key := append(bytes.Repeat([]byte{0xff}, 31), 0)
	for _, text := range []string{
		hex.EncodeToString(key), strings.ToUpper(hex.EncodeToString(key)),
		base64.StdEncoding.EncodeToString(key), base64.RawURLEncoding.EncodeToString(key), " " + base64.URLEncoding.EncodeToString(key) + "\n",
	} {
		if got, err := seal.ParseKey(text); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%s gives %x, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "correct horse battery staple", strings.Repeat("x", 32), hex.EncodeToString(key[1:]), base64.StdEncoding.EncodeToString(key) + "AAAA"} {
		_, err := seal.ParseKey(text)
		if e := sluice.AsError(err); err == nil || e.Code != "secret-key-invalid" || !strings.Contains(e.Message, "openssl") {
			t.Errorf("%q: got %v", text, err)
		}
		if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the error has the key: %v", err)
		}
	}
	if _, err := seal.New(key[1:]); err == nil {
		t.Error("a short key is taken")
	}
	if key, err := seal.ParseKey(seal.NewKey()); err != nil || len(key) != seal.KeySize {
		t.Errorf("a new key has %d bytes: %v", len(key), err)
	}
}
