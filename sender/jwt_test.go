package sender

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

func tokenOf(t *testing.T, algorithm jose.SignatureAlgorithm, key any, id string, claims map[string]any) string {
	t.Helper()
	options := new(jose.SignerOptions)
	if id != "" {
		options = options.WithHeader("kid", id)
	}
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options))
	return must(jwt.Signed(signer).Claims(claims).Serialize())
}

// rawToken makes a token that no library would.
func rawToken(header, claims string, key []byte) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	if key == nil {
		return text + "."
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestTokens(t *testing.T) {
	const secret = "a secret of at least thirty-two bytes"
	private, curve := must(rsa.GenerateKey(rand.Reader, 2048)), must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	large := must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	public := pemOf(t, &private.PublicKey)
	now := proofTime.Unix()
	claims := func(changes ...any) map[string]any {
		all := map[string]any{"iss": "sender", "aud": []string{"us", "them"}, "exp": now + 60, "iat": now, "hash": hexDigest([]byte("body"))}
		for i := 0; i < len(changes); i += 2 {
			if all[changes[i].(string)] = changes[i+1]; changes[i+1] == nil {
				delete(all, changes[i].(string))
			}
		}
		return all
	}
	const scheme = `{"header":"Authorization","algorithm":"jwt","issuer":"sender","audience":"us","bodyHash":"hash"}`
	good := tokenOf(t, jose.HS256, []byte(secret), "", claims())
	encoded := string(must(json.Marshal(claims())))
	for name, test := range map[string]struct{ secret, token, want string }{
		"right":                      {secret, good, "ok"},
		"behind Bearer":              {secret, "bearer " + good, "ok"},
		"HS512":                      {secret, tokenOf(t, jose.HS512, []byte(secret+secret), "", claims()), "signature-invalid"},
		"RS256":                      {public, tokenOf(t, jose.RS256, private, "", claims()), "ok"},
		"PS384":                      {public, tokenOf(t, jose.PS384, private, "", claims()), "ok"},
		"ES256":                      {pemOf(t, &curve.PublicKey), tokenOf(t, jose.ES256, curve, "", claims()), "ok"},
		"ES384":                      {pemOf(t, &large.PublicKey), tokenOf(t, jose.ES384, large, "", claims()), "ok"},
		"another curve":              {pemOf(t, &large.PublicKey), tokenOf(t, jose.ES256, curve, "", claims()), "signature-invalid"},
		"another sort of key":        {pemOf(t, &curve.PublicKey), tokenOf(t, jose.RS256, private, "", claims()), "signature-invalid"},
		"alg none":                   {secret, rawToken(`{"alg":"none"}`, encoded, nil), "signature-invalid"},
		"alg None":                   {public, rawToken(`{"alg":"None"}`, encoded, nil), "signature-invalid"},
		"HS256 with the PEM":         {public, rawToken(`{"alg":"HS256"}`, encoded, []byte(public)), "signature-invalid"},
		"HS256 with the DER":         {public, rawToken(`{"alg":"HS256"}`, encoded, derOf(public)), "signature-invalid"},
		"alg twice":                  {public, rawToken(`{"alg":"RS256","alg":"HS256"}`, encoded, []byte(public)), "signature-invalid"},
		"a key of its own":           {public, rawToken(`{"alg":"HS256","jwk":{"kty":"oct","k":"YQ"}}`, encoded, []byte("a")), "signature-invalid"},
		"a criticality":              {secret, rawToken(`{"alg":"HS256","crit":["x"],"x":1}`, encoded, []byte(secret)), "signature-invalid"},
		"truncated":                  {secret, good[:len(good)-2], "signature-invalid"},
		"without a signature":        {secret, good[:strings.LastIndexByte(good, '.')+1], "signature-invalid"},
		"two parts":                  {secret, good[:strings.LastIndexByte(good, '.')], "signature-invalid"},
		"claims of another":          {secret, strings.Split(good, ".")[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(encoded+" ")) + "." + strings.Split(good, ".")[2], "signature-invalid"},
		"no token":                   {secret, "hello", "signature-invalid"},
		"Basic":                      {secret, "Basic " + good, "signature-invalid"},
		"another issuer":             {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("iss", "other")), "signature-invalid"},
		"another audience":           {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("aud", "them")), "signature-invalid"},
		"no audience":                {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("aud", nil)), "signature-invalid"},
		"another body":               {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("hash", hexDigest([]byte("Body")))), "signature-invalid"},
		"no hash":                    {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("hash", nil)), "signature-invalid"},
		"a hash that is no text":     {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("hash", 1)), "signature-invalid"},
		"no end":                     {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("exp", nil)), "signature-invalid"},
		"expired, within the leeway": {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("exp", now-50)), "ok"},
		"expired":                    {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("exp", now-70)), "signature-expired"},
		"not yet":                    {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("nbf", now+70)), "signature-expired"},
		"from the future":            {secret, tokenOf(t, jose.HS256, []byte(secret), "", claims("iat", now+70)), "signature-expired"},
		"none":                       {secret, "", "signature-missing"},
	} {
		v := schemeOf(t, scheme, test.secret, nil)
		if err := v.Verify(t.Context(), callWith("Authorization", test.token), proofTime); codeOf(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	v, call := schemeOf(t, scheme, secret, nil), callWith("Authorization", tokenOf(t, jose.HS256, []byte(secret), "", claims("aud", []string{"them", "\"x"})))
	if err := v.Verify(t.Context(), call, proofTime); err == nil || !strings.Contains(err.Error(), `for the audience "them, \"x", not for "us"`) {
		t.Errorf("for another audience: %v", err)
	}
	call = callWith("Authorization", tokenOf(t, jose.HS256, []byte(secret), "", claims("iss", "other")))
	if err := v.Verify(t.Context(), call, proofTime); err == nil || !strings.Contains(err.Error(), `of the issuer "other", not of "`) {
		t.Errorf("of another issuer: %v", err)
	}
	call = callWith("", "")
	if err := v.Sign(call, proofTime); err != nil || v.Verify(t.Context(), call, proofTime) != nil {
		t.Errorf("what was signed is refused: %v", err)
	}
	if v.Masked() != nil || schemeOf(t, `{"header":"X-T","algorithm":"jwt"}`, secret, nil).Masked()[0] != "x-t" {
		t.Error("a token that fits any body is a secret, and no other")
	}
}

func TestPublishedKeys(t *testing.T) {
	private, curve := must(rsa.GenerateKey(rand.Reader, 2048)), must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	_, edwards, _ := ed25519.GenerateKey(rand.Reader)
	const address = "https://keys.example.com/jwks"
	set := func(keys ...jose.JSONWebKey) listedKeys {
		return listedKeys{address: string(must(json.Marshal(jose.JSONWebKeySet{Keys: keys})))}
	}
	first := jose.JSONWebKey{Key: &private.PublicKey, KeyID: "a", Algorithm: "RS256", Use: "sig"}
	second := jose.JSONWebKey{Key: &curve.PublicKey, KeyID: "b"}
	third := jose.JSONWebKey{Key: edwards.Public(), KeyID: "c"}
	shared := jose.JSONWebKey{Key: []byte("thirty-two bytes that are public"), KeyID: "d"}
	claims := map[string]any{"exp": proofTime.Unix() + 60}
	for name, test := range map[string]struct {
		keys  listedKeys
		token string
		want  string
	}{
		"by id":                  {set(first, second, third), tokenOf(t, jose.ES256, curve, "b", claims), "ok"},
		"ed25519":                {set(first, second, third), tokenOf(t, jose.EdDSA, edwards, "c", claims), "ok"},
		"the only one":           {set(first), tokenOf(t, jose.RS256, private, "", claims), "ok"},
		"one of several":         {set(first, second), tokenOf(t, jose.RS256, private, "", claims), "signature-invalid"},
		"an unknown id":          {set(first), tokenOf(t, jose.RS256, private, "x", claims), "signature-invalid"},
		"an id twice":            {set(first, first), tokenOf(t, jose.RS256, private, "a", claims), "signature-invalid"},
		"another's id":           {set(first, second), tokenOf(t, jose.RS256, private, "b", claims), "signature-invalid"},
		"not the key's":          {set(first), tokenOf(t, jose.PS256, private, "a", claims), "signature-invalid"},
		"a shared key":           {set(shared), tokenOf(t, jose.HS256, shared.Key, "d", claims), "signature-invalid"},
		"a key for encryption":   {set(jose.JSONWebKey{Key: &private.PublicKey, KeyID: "a", Use: "enc"}), tokenOf(t, jose.RS256, private, "a", claims), "signature-invalid"},
		"no keys":                {listedKeys{address: "<html>"}, tokenOf(t, jose.RS256, private, "a", claims), "signature-invalid"},
		"keys that can't be got": {listedKeys{}, tokenOf(t, jose.RS256, private, "a", claims), "sender-keys-unavailable"},
	} {
		v := schemeOf(t, `{"header":"X-T","algorithm":"jwt","keys":"`+address+`"}`, "", test.keys)
		for range 2 {
			if err := v.Verify(t.Context(), callWith("X-T", test.token), proofTime); codeOf(err) != test.want {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
		}
	}
}
