package oidc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"sluice"
)

// decodePart returns a part of a JWT, without checking anything.
func decodePart(t *testing.T, token string, part int) (decoded map[string]any) {
	t.Helper()
	content, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[part])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// forge signs claims with any key and header.
func forge(t *testing.T, alg jose.SignatureAlgorithm, key any, header, claims map[string]any) string {
	t.Helper()
	opts := new(jose.SignerOptions)
	for name, value := range header {
		opts.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// privateKey returns the key that the issuer signs with.
func (f *fixture) privateKey() *ecdsa.PrivateKey {
	key, err := x509.ParsePKCS8PrivateKey(f.Keys.All()[0].Private)
	if err != nil {
		f.t.Fatal(err)
	}
	return key.(*ecdsa.PrivateKey)
}

// encode makes a token of parts that nobody has signed.
func encode(t *testing.T, header, claims map[string]any, signature string) string {
	t.Helper()
	part := func(v any) string {
		content, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(content)
	}
	return part(header) + "." + part(claims) + "." + signature
}

func TestForgedTokensAreRefused(t *testing.T) {
	f := newFixture(t)
	good := f.login("openid")
	header := decodePart(t, good.str("access_token"), 0)
	claims := decodePart(t, good.str("access_token"), 1)
	delete(header, "alg")
	ours := f.privateKey()
	theirs, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	theirRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	publicDER, err := x509.MarshalPKIXPublicKey(&ours.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicPoint, err := ours.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	with := func(m map[string]any, changes map[string]any) map[string]any {
		m = maps.Clone(m)
		for name, value := range changes {
			if m[name] = value; value == nil {
				delete(m, name)
			}
		}
		return m
	}
	// sign makes a token with our own key: all that is wrong is what is changed.
	sign := func(headerChanges, claimChanges map[string]any) string {
		return forge(t, jose.ES256, ours, with(header, headerChanges), with(claims, claimChanges))
	}
	ago := func(d time.Duration) any { return f.now().Add(-d).Unix() }
	type m = map[string]any
	theirJWK := jose.JSONWebKey{Key: &theirs.PublicKey, KeyID: "theirs"}
	parts := strings.Split(good.str("access_token"), ".")

	if !f.accepts(sign(nil, nil)) {
		t.Fatal("a token signed with our key is refused: the table below shows nothing")
	}
	tests := map[string]string{
		"alg none":                          encode(t, with(header, m{"alg": "none"}), claims, ""),
		"alg none, with a signature":        encode(t, with(header, m{"alg": "none"}), claims, parts[2]),
		"alg None":                          encode(t, with(header, m{"alg": "None"}), claims, ""),
		"no alg":                            encode(t, header, claims, parts[2]),
		"HS256 with the public key (DER)":   forge(t, jose.HS256, publicDER, header, claims),
		"HS256 with the public key (point)": forge(t, jose.HS256, publicPoint, header, claims),
		"RS256":                             forge(t, jose.RS256, theirRSA, header, claims),
		"other key, our kid":                forge(t, jose.ES256, theirs, header, claims),
		"unknown kid":                       forge(t, jose.ES256, ours, with(header, m{"kid": random(familySize)}), claims),
		"no kid":                            sign(m{"kid": nil}, nil),
		"kid is a path":                     sign(m{"kid": "../../../../dev/null"}, nil),
		"kid is SQL":                        sign(m{"kid": "' OR 1=1 --"}, nil),
		"kid is a URL":                      sign(m{"kid": "https://evil.example/key"}, nil),
		"kid is a wildcard":                 sign(m{"kid": ">"}, nil),
		"kid is a number":                   encode(t, with(header, m{"alg": "ES256", "kid": 1}), claims, parts[2]),
		"jku":                               forge(t, jose.ES256, theirs, with(header, m{"jku": "https://evil.example/jwks"}), claims),
		"x5u":                               forge(t, jose.ES256, theirs, with(header, m{"x5u": "https://evil.example/cert"}), claims),
		"jwk":                               forge(t, jose.ES256, theirs, with(header, m{"jwk": theirJWK}), claims),
		"jwk and its kid":                   forge(t, jose.ES256, theirs, with(header, m{"jwk": theirJWK, "kid": "theirs"}), claims),
		"crit":                              sign(m{"crit": []string{"exp"}, "exp": 1}, nil),
		"expired":                           sign(nil, m{"exp": ago(0)}),
		"expired long ago":                  sign(nil, m{"exp": ago(leeway + 2*time.Second)}),
		"no exp":                            sign(nil, m{"exp": nil}),
		"exp is a text":                     sign(nil, m{"exp": "never"}),
		"exp overflows":                     sign(nil, m{"exp": 1e300}),
		"not valid yet":                     sign(nil, m{"nbf": ago(-leeway - 5*time.Second)}),
		"no nbf":                            sign(nil, m{"nbf": nil}),
		"nbf overflows":                     sign(nil, m{"nbf": 9223372036854775807}),
		"issued in the future":              sign(nil, m{"iat": ago(-leeway - 5*time.Second)}),
		"no iat":                            sign(nil, m{"iat": nil}),
		"wrong audience":                    sign(nil, m{"aud": "another"}),
		"no audience":                       sign(nil, m{"aud": nil}),
		"audience is a number":              sign(nil, m{"aud": 1}),
		"wrong issuer":                      sign(nil, m{"iss": f.URL() + "/"}),
		"no issuer":                         sign(nil, m{"iss": nil}),
		"no subject":                        sign(nil, m{"sub": nil}),
		"wrong typ":                         sign(m{"typ": "JWT"}, nil),
		"no typ":                            sign(m{"typ": nil}, nil),
		"session that never was":            sign(nil, m{"sid": random(familySize)}),
		"no session":                        sign(nil, m{"sid": nil}),
		"ID token":                          good.str("id_token"),
		"refresh token":                     good.str("refresh_token"),
		"other payload":                     parts[0] + "." + strings.Split(encode(t, header, with(claims, m{"sub": "admin"}), ""), ".")[1] + "." + parts[2],
		"signature cut off":                 parts[0] + "." + parts[1] + ".",
		"two parts":                         parts[0] + "." + parts[1],
		"four parts":                        good.str("access_token") + "." + parts[2],
		"JSON form":                         `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"whitespace":                        parts[0] + "." + parts[1] + ". " + parts[2],
		"line break":                        parts[0] + "." + parts[1] + "." + parts[2] + "\n",
		"padded":                            good.str("access_token") + "==",
		"signature in other base64":         parts[0] + "." + parts[1] + "." + uncanonical(parts[2]),
		"header with a line break":          parts[0] + "\r." + parts[1] + "." + parts[2],
		"oversize":                          sign(nil, m{"x": strings.Repeat("x", maxToken)}),
		"oversize, of dots":                 strings.Repeat(".", 100_000),
		"thousands of dots":                 strings.Repeat(".", maxToken),
		"empty":                             "",
	}
	for name, token := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := f.Access(t.Context(), token)
			e := sluice.AsError(err)
			if err == nil || e.Kind != sluice.Unauthenticated || e.Code != "invalid_token" {
				t.Errorf("error is %v", err)
			}
		})
	}
	if !f.accepts(good.str("access_token")) {
		t.Error("the true token is refused now")
	}
}

func TestClocksMayDifferALittle(t *testing.T) {
	f := newFixture(t)
	r := f.login("")
	f.wait(-leeway + 5*time.Second)
	if !f.accepts(r.str("access_token")) {
		t.Error("a token of a clock that is a little ahead is refused")
	}
}

// TestExpiredTokenIsDeadAtOnce: the leeway is not for the expiry of our own
// tokens, wherever they are shown.
func TestExpiredTokenIsDeadAtOnce(t *testing.T) {
	f := newFixture(t)
	remembered, fresh := f.login("openid").str("access_token"), f.login("openid").str("access_token")
	inspect := func(token string) any {
		return f.postWith(http.Header{"Authorization": {clientHeader(secretID, robotSecret)}}, "introspect", "token", token).body["active"]
	}
	f.wait(f.AccessTTL - 5*time.Second)
	if !f.accepts(remembered) || inspect(remembered) != true {
		t.Fatal("the token is refused before it expires")
	}
	f.wait(5 * time.Second)
	for _, token := range []string{remembered, fresh} {
		if f.accepts(token) || inspect(token) != false || f.do(http.MethodGet, protocol+"/userinfo", bearer(token), nil).status != 401 {
			t.Error("an expired token is accepted")
		}
	}
}

// uncanonical returns other base64 that decodes to the same bytes.
func uncanonical(text string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(digits, text[len(text)-1])
	return text[:len(text)-1] + digits[last+1:last+2] // the last bits count for nothing
}

func TestVerifiedTokensAreRemembered(t *testing.T) {
	f := newFixture(t)
	token := f.login("").str("access_token")
	for range 2 {
		if !f.accepts(token) {
			t.Fatal("the token is refused")
		}
	}
	remembered := func() bool {
		_, known := f.verified.Get(sha256.Sum256([]byte(token)), time.Now())
		return known
	}
	if !remembered() {
		t.Error("the token is not remembered")
	}
	f.Keys.Change(t.Context(), f.Keys.All()[0].ID, func(*sluice.SigningKey, map[string]*sluice.SigningKey) (*sluice.SigningKey, error) {
		return nil, nil
	})
	if f.accepts(token) {
		t.Error("a token whose key is gone is accepted")
	}
	if remembered() {
		t.Error("the token is remembered")
	}
}
