package oidc

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// publishedKeys lists the ids of the keys in the JWKS.
func (f *fixture) publishedKeys() (ids []string) {
	f.t.Helper()
	r := f.do(http.MethodGet, protocol+"/certs", nil, nil)
	keys, ok := r.body["keys"].([]any)
	if r.status != http.StatusOK || !ok {
		f.t.Fatalf("%d %s", r.status, r.text)
	}
	for _, key := range keys {
		ids = append(ids, key.(map[string]any)["kid"].(string))
	}
	return ids
}

func TestOldKeyIsPublishedUntilItsTokensAreDead(t *testing.T) {
	f := newFixture(t)
	f.login("")
	f.wait(f.Rotation - time.Second)
	old := f.login("").str("access_token")
	before := f.publishedKeys()
	f.wait(2 * time.Second)
	young := f.login("").str("access_token")
	during := f.publishedKeys()
	if len(before) != 1 || len(during) != 2 || during[0] == before[0] || during[1] != before[0] {
		t.Fatalf("published keys were %v, then %v", before, during)
	}
	if decodePart(t, young, 0)["kid"] != during[0] {
		t.Error("the new key is not used")
	}
	f.wait(f.AccessTTL - 10*time.Second)
	if !f.accepts(old) || !f.accepts(young) {
		t.Error("a token that has not expired is refused")
	}
	f.wait(2*leeway + 20*time.Second)
	if f.accepts(old) {
		t.Error("a token of the old key is accepted")
	}
	if after := f.publishedKeys(); len(after) != 1 || after[0] != during[0] {
		t.Errorf("published keys are %v", after)
	}
	if n := len(f.Keys.All()); n != 1 {
		t.Errorf("%d keys are stored", n)
	}
}

func TestTokenOfADeadKeyIsRefusedWhateverItSays(t *testing.T) {
	f := newFixture(t)
	f.RefreshTTL = 3 * f.Rotation
	r := f.login("")
	stolen := f.privateKey()
	forged := func(life time.Duration) string {
		header, claims := decodePart(t, r.str("access_token"), 0), decodePart(t, r.str("access_token"), 1)
		delete(header, "alg")
		claims["iat"], claims["nbf"], claims["exp"] = f.now().Unix(), f.now().Unix(), f.now().Add(life).Unix()
		return forge(t, "ES256", stolen, header, claims)
	}
	if f.accepts(forged(f.AccessTTL+2*time.Second)) || f.accepts(forged(24*365*time.Hour)) {
		t.Error("a token is accepted that is valid for longer than we make them")
	}
	f.wait(f.Rotation - time.Minute)
	if !f.accepts(forged(f.AccessTTL)) {
		t.Fatal("the token is refused while its key lives")
	}
	f.wait(2 * time.Minute)
	f.login("") // makes the next key
	f.wait(f.AccessTTL + 3*leeway)
	if f.accepts(forged(f.AccessTTL)) {
		t.Error("a key that is no longer published verifies")
	}
}

// TestAKeyIsReplacedAtOnce: on request a new key signs, and tokens of the one
// before stay valid until they expire.
func TestAKeyIsReplacedAtOnce(t *testing.T) {
	f := newFixture(t)
	old := f.login("").str("access_token")
	id, _, err := f.RotateKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	young := f.login("").str("access_token")
	if kid := decodePart(t, young, 0)["kid"]; kid != id || kid == decodePart(t, old, 0)["kid"] {
		t.Errorf("a new token is signed by %v, want %s", kid, id)
	}
	if !f.accepts(old) || !f.accepts(young) {
		t.Error("a token that has not expired is refused")
	}
	if keys := f.publishedKeys(); len(keys) != 2 || keys[0] != id {
		t.Errorf("published keys are %v", keys)
	}
	f.wait(f.AccessTTL + 3*leeway)
	if keys := f.publishedKeys(); len(keys) != 1 || keys[0] != id || f.accepts(old) {
		t.Errorf("published keys are %v when all tokens of the old one are dead", keys)
	}
}

func TestOneKeyIsMadeHoweverManyAsk(t *testing.T) {
	f := newFixture(t)
	other := NewIssuer(f.IssuerOptions) // another node on the same store
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			issuer := f.Issuer
			if n%2 == 0 {
				issuer = other
			}
			if _, err := issuer.keys.signing(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(f.Keys.All()); n != 1 {
		t.Errorf("%d keys were made", n)
	}
	if token := f.login("").str("access_token"); !f.accepts(token) {
		t.Error("the token is refused")
	} else if _, err := other.Access(t.Context(), token); err != nil {
		t.Errorf("the other node refuses the token: %v", err)
	}
}

func TestPublishedKeysArePublic(t *testing.T) {
	f := newFixture(t)
	r := f.do(http.MethodGet, protocol+"/certs", nil, nil)
	if strings.Contains(r.text, `"d"`) {
		t.Errorf("the private half is published: %s", r.text)
	}
	for _, want := range []string{`"kty":"EC"`, `"crv":"P-256"`, `"use":"sig"`, `"alg":"ES256"`} {
		if !strings.Contains(r.text, want) {
			t.Errorf("%s is missing in %s", want, r.text)
		}
	}
}
