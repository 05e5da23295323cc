package sender

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice"
)

var proofTime = time.Unix(1_800_000_000, 0)

func schemeOf(t testing.TB, text, secret string, keys Keys) *Verifier {
	t.Helper()
	s, err := ParseScheme([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var secrets []string
	if secret != "" {
		secrets = []string{secret}
	}
	v, err := New(s, secrets, keys)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func pemOf(t testing.TB, public any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func callWith(header, value string) *Call {
	c := &Call{Method: "POST", URL: "https://x.example.com/?token=t", Header: http.Header{}, Body: []byte("body")}
	if value != "" {
		c.Header.Set(header, value)
	}
	return c
}

// TestPublicKeySignatures: RSA and ECDSA, right and forged.
func TestPublicKeySignatures(t *testing.T) {
	digest := sha256.Sum256([]byte("body"))
	rsaPrivate, other := must(rsa.GenerateKey(rand.Reader, 2048)), must(rsa.GenerateKey(rand.Reader, 2048))
	curve := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	pkcs := must(rsa.SignPKCS1v15(nil, rsaPrivate, crypto.SHA256, digest[:]))
	pss := must(rsa.SignPSS(rand.Reader, rsaPrivate, crypto.SHA256, digest[:], nil))
	der := must(ecdsa.SignASN1(rand.Reader, curve, digest[:]))
	var numbers struct{ R, S *big.Int }
	must(asn1.Unmarshal(der, &numbers))
	pair := append(numbers.R.FillBytes(make([]byte, 32)), numbers.S.FillBytes(make([]byte, 32))...)
	zero := must(asn1.Marshal(struct{ R, S *big.Int }{new(big.Int), new(big.Int)}))
	order := curve.Params().N.FillBytes(make([]byte, 32))
	for algorithm, group := range map[string]struct {
		key   string
		calls map[string]struct {
			signature []byte
			ok        bool
		}
	}{
		rsaSHA256: {pemOf(t, &rsaPrivate.PublicKey), map[string]struct {
			signature []byte
			ok        bool
		}{
			"right":              {pkcs, true},
			"other padding":      {pss, false},
			"another key's":      {must(rsa.SignPKCS1v15(nil, other, crypto.SHA256, digest[:])), false},
			"of another digest":  {must(rsa.SignPKCS1v15(nil, rsaPrivate, 0, digest[:])), false},
			"truncated":          {pkcs[:255], false},
			"with a zero before": {append([]byte{0}, pkcs...), false},
			"plus the modulus":   {new(big.Int).Add(new(big.Int).SetBytes(pkcs), rsaPrivate.N).Bytes(), false},
			"one":                {append(make([]byte, 255), 1), false},
		}},
		rsaPSSSHA256: {pemOf(t, &rsaPrivate.PublicKey), map[string]struct {
			signature []byte
			ok        bool
		}{
			"right":         {pss, true},
			"short salt":    {must(rsa.SignPSS(rand.Reader, rsaPrivate, crypto.SHA256, digest[:], &rsa.PSSOptions{SaltLength: 20})), true},
			"other padding": {pkcs, false},
			"truncated":     {pss[1:], false},
		}},
		ecdsaSHA256: {pemOf(t, &curve.PublicKey), map[string]struct {
			signature []byte
			ok        bool
		}{
			"DER":               {der, true},
			"64 bytes":          {pair, true},
			"DER and more":      {append(bytes.Clone(der), 0), false},
			"DER truncated":     {der[:len(der)-1], false},
			"65 bytes":          {append([]byte{0}, pair...), false},
			"numbers exchanged": {append(bytes.Clone(pair[32:]), pair[:32]...), false},
			"zeros in DER":      {zero, false},
			"zeros":             {make([]byte, 64), false},
			"the order":         {append(bytes.Clone(order), order...), false},
			"beyond the order":  {append(new(big.Int).Add(numbers.R, curve.Params().N).Bytes(), pair[32:]...), false},
		}},
	} {
		v := schemeOf(t, `{"header":"X-S","encoding":"base64","algorithm":"`+algorithm+`"}`, group.key, nil)
		for name, test := range group.calls {
			want := "signature-invalid"
			if test.ok {
				want = "ok"
			}
			call := callWith("X-S", base64.StdEncoding.EncodeToString(test.signature))
			if err := v.Verify(t.Context(), call, proofTime); codeOf(err) != want {
				t.Errorf("%s, %s: %v, want %s", algorithm, name, err, want)
			}
			call.Body = []byte("Body")
			if err := v.Verify(t.Context(), call, proofTime); codeOf(err) != "signature-invalid" {
				t.Errorf("%s, %s: another body gives %v", algorithm, name, err)
			}
		}
		if err := v.Verify(t.Context(), callWith("", ""), proofTime); codeOf(err) != "signature-missing" {
			t.Errorf("%s without a signature: %v", algorithm, err)
		}
		if codeOf(v.Sign(callWith("", ""), proofTime)) != "not-signable" {
			t.Errorf("%s is signed without a private key", algorithm)
		}
	}
}

// TestKeysOfAlgorithms: no key is taken for another sort, and no public key for a shared
// secret.
func TestKeysOfAlgorithms(t *testing.T) {
	curve, large := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	private := must(rsa.GenerateKey(rand.Reader, 2048))
	short := &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 700), E: 65537}
	p256, p384, long, weak := pemOf(t, &curve.PublicKey), pemOf(t, &large.PublicKey), pemOf(t, &private.PublicKey), pemOf(t, short)
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&private.PublicKey)}))
	inBase64 := base64.StdEncoding.EncodeToString(derOf(long))
	for _, test := range []struct {
		scheme, secret string
		ok             bool
	}{
		{`{"header":"X-S","algorithm":"rsa-sha256"}`, long, true},
		{`{"header":"X-S","algorithm":"rsa-sha256"}`, pkcs1, true},
		{`{"header":"X-S","algorithm":"rsa-sha256"}`, inBase64, true},
		{`{"header":"X-S","algorithm":"rsa-sha256"}`, weak, false},
		{`{"header":"X-S","algorithm":"rsa-sha256"}`, p256, false},
		{`{"header":"X-S","algorithm":"rsa-pss-sha256"}`, "secret", false},
		{`{"header":"X-S","algorithm":"ecdsa-sha256"}`, p256, true},
		{`{"header":"X-S","algorithm":"ecdsa-sha256"}`, p384, false},
		{`{"header":"X-S","algorithm":"ecdsa-sha256"}`, long, false},
		{`{"algorithm":"basic"}`, "user:password", true},
		{`{"algorithm":"basic"}`, "password", false},
		{`{"algorithm":"basic"}`, ":", false},
		{`{"header":"X-S","algorithm":"plain"}`, "secret", true},
		{`{"header":"X-S","algorithm":"jwt"}`, "secret", true},
		{`{"header":"X-S","algorithm":"jwt"}`, p384, true},
		{`{"header":"X-S","algorithm":"jwt"}`, weak, false},
		{`{"header":"X-S","algorithm":"jwt"}`, `{"kty":"RSA"}`, false},
		{`{"header":"X-S","algorithm":"jwt"}`, "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----", false},
		{`{"header":"X-S","algorithm":"jwt","keys":"https://a.example/jwks"}`, "secret", false},
		{`{"algorithm":"rfc9421"}`, "secret", true},
		{`{"algorithm":"rfc9421"}`, p256, true},
		{`{"algorithm":"rfc9421"}`, p384, false},
	} {
		s, err := ParseScheme([]byte(test.scheme))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(s, []string{test.secret}, nil); (err == nil) != test.ok || err != nil && sluice.AsError(err).Parameter != "signingSecret" {
			t.Errorf("%s with %.60q: %v", test.scheme, test.secret, err)
		}
	}
	if v := schemeOf(t, `{"algorithm":"rfc9421"}`, inBase64, nil); algorithmOf(v.checkers[0].(*messageCheck).ring.fixed) != "rsa-pss-sha512" {
		t.Error("a public key in base64 is taken for a shared secret")
	}
}

// TestFieldsOfAlgorithms: a field that an algorithm does not read is refused.
func TestFieldsOfAlgorithms(t *testing.T) {
	for text, field := range map[string]string{
		`{"algorithm":"basic","header":"X-S"}`:                                      "header",
		`{"algorithm":"plain","header":"X-S","encoding":"hex"}`:                     "encoding",
		`{"algorithm":"plain"}`:                                                     "header",
		`{"algorithm":"jwt","header":"X-S","signed":"{body}"}`:                      "signed",
		`{"algorithm":"jwt"}`:                                                       "header",
		`{"algorithm":"jwt","header":"X-S","keys":"http://a.example/jwks"}`:         "keys",
		`{"algorithm":"jwt","header":"X-S","keys":"https://u:p@a.example/jwks"}`:    "keys",
		`{"algorithm":"jwt","header":"X-S","tolerance":"2d"}`:                       "tolerance",
		`{"algorithm":"rfc9421","header":"X-S"}`:                                    "header",
		`{"algorithm":"rfc9421","issuer":"x"}`:                                      "issuer",
		`{"algorithm":"rfc9421","label":"Sig 1"}`:                                   "label",
		`{"algorithm":"rfc9421","components":["@method"]}`:                          "components",
		`{"algorithm":"rfc9421","components":["Content-Digest"]}`:                   "components",
		`{"algorithm":"rfc9421","components":["content-digest","@status"]}`:         "components",
		`{"algorithm":"rfc9421","components":["content-digest",""]}`:                "components",
		`{"algorithm":"rfc9421","components":"content-digest"}`:                     "components",
		`{"algorithm":"sha256","header":"X-S","issuer":"x"}`:                        "issuer",
		`{"algorithm":"rsa-sha256","header":"X-S","components":["content-digest"]}`: "components",
	} {
		_, err := ParseScheme([]byte(text))
		if err == nil || sluice.AsError(err).Parameter != "signature."+field {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSecretsThatAreSent(t *testing.T) {
	plain, login := schemeOf(t, `{"header":"x-api-key","algorithm":"plain"}`, "s3cret", nil), schemeOf(t, `{"algorithm":"basic"}`, "user:pass:word", nil)
	const basic = "Basic dXNlcjpwYXNzOndvcmQ="
	for _, test := range []struct {
		v                   *Verifier
		header, value, want string
	}{
		{plain, "X-Api-Key", "s3cret", "ok"},
		{plain, "X-Api-Key", "s3cre", "signature-invalid"},
		{plain, "X-Api-Key", "S3cret", "signature-invalid"},
		{plain, "X-Api-Key", "s3cret ", "signature-invalid"},
		{plain, "X-Api-Key", "", "signature-missing"},
		{login, "Authorization", basic, "ok"},
		{login, "Authorization", strings.Replace(basic, "Basic", "basic", 1), "ok"},
		{login, "Authorization", strings.TrimRight(basic, "="), "signature-invalid"},
		{login, "Authorization", "Bearer user:pass:word", "signature-invalid"},
		{login, "Authorization", "Basic user:pass:word", "signature-invalid"},
		{login, "X-Api-Key", basic, "signature-missing"},
	} {
		err := test.v.Verify(t.Context(), callWith(test.header, test.value), proofTime)
		if codeOf(err) != test.want {
			t.Errorf("%s: %q gives %v, want %s", test.header, test.value, err, test.want)
		}
		if test.v == login && err != nil && len(sluice.AsError(err).Challenge) == 0 {
			t.Errorf("%q is not asked for credentials", test.value)
		}
	}
	for _, v := range []*Verifier{plain, login} {
		call := callWith("", "")
		if err := v.Sign(call, proofTime); err != nil || v.Verify(t.Context(), call, proofTime) != nil {
			t.Errorf("what was signed is refused: %v", err)
		}
		call.Header[http.CanonicalHeaderKey(v.Masked()[0])] = []string{"a", "b"}
		if err := v.Verify(t.Context(), call, proofTime); codeOf(err) != "signature-invalid" {
			t.Errorf("twice: %v", err)
		}
		if !v.SendsSecret() {
			t.Error("the secret is not known to be sent")
		}
	}
}

// TestSeveralKeysOfASender: Docusign signs with each key of an account, in a header of its own.
func TestSeveralKeysOfASender(t *testing.T) {
	file := readVectors(t, "docusign")
	v := verifierOf(t, "docusign", file.Secrets, nil)
	good := file.Calls[0].call()
	signature := good.Header.Get("X-DocuSign-Signature-1")
	good.Header.Set("X-DocuSign-Signature-1", base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err := v.Verify(t.Context(), good, file.now()); !sluice.CodeSignatureInvalid.Is(err) {
		t.Errorf("signed with another key, it is %v", err)
	}
	good.Header.Set("X-DocuSign-Signature-2", signature)
	if err := v.Verify(t.Context(), good, file.now()); err != nil {
		t.Errorf("signed with two keys, it is %v", err)
	}
}

// TestAPublicKeyIsNoSharedText: where a secret may be either, a public key in whatever form is not
// taken for a text that only the sender knows; a prefix says that a text is one.
func TestAPublicKeyIsNoSharedText(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	if err != nil {
		t.Fatal(err)
	}
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ssh := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), edwards...)
	std, url := base64.StdEncoding, base64.RawURLEncoding
	check := func(secret string, ok bool) {
		t.Helper()
		for _, scheme := range []string{`{"header":"X-S","algorithm":"jwt"}`, `{"algorithm":"rfc9421"}`} {
			if err := schemeOf(t, scheme, secret, nil).CheckKind(); (err == nil) != ok {
				t.Errorf("%s with %.40s: %v", scheme, secret, err)
			}
		}
		if err := schemeOf(t, `{"header":"X-S"}`, secret, nil).CheckKind(); err != nil {
			t.Errorf("an HMAC knows no public keys: %v", err)
		}
	}
	jwk := `{"kty":"OKP","crv":"Ed25519","x":"` + url.EncodeToString(edwards) + `"}`
	written := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	for _, public := range []string{
		std.EncodeToString(written), url.EncodeToString(written), "0x" + hex.EncodeToString(edwards),
		fmt.Sprintf("% X", []byte(edwards)), strings.ReplaceAll(fmt.Sprintf("% x", []byte(edwards)), " ", ":"), "[" + jwk + "]",
		std.EncodeToString([]byte("[" + jwk + "]")),
		hex.EncodeToString(edwards), std.EncodeToString(edwards), url.EncodeToString(edwards),
		"whpk_" + std.EncodeToString(edwards), "ssh-ed25519 " + std.EncodeToString(ssh), std.EncodeToString(ssh),
		url.EncodeToString(der), hex.EncodeToString(der), std.EncodeToString(der[:100]),
		std.EncodeToString([]byte(jwk)),
	} {
		check(public, false)
	}
	for _, shared := range []string{
		"secret", "a longer secret between a sender and a receiver, of 64 and more characters", std.EncodeToString(der),
		"text:" + hex.EncodeToString(edwards), "hex:" + hex.EncodeToString(edwards), "base64:" + std.EncodeToString(edwards),
	} {
		check(shared, true)
	}
}

// TestShortSecretsOfTokens: what a sender gives is good enough, however short it is.
func TestShortSecretsOfTokens(t *testing.T) {
	for _, secret := range []string{"s", strings.Repeat("x", 31), strings.Repeat("x", 64), strings.Repeat("x", 200)} {
		v := schemeOf(t, `{"header":"X-S","algorithm":"jwt"}`, secret, nil)
		call := callWith("", "")
		if err := errors.Join(v.Sign(call, proofTime), v.Verify(t.Context(), call, proofTime)); err != nil {
			t.Errorf("with %d bytes: %v", len(secret), err)
		}
		mac := hmac.New(sha256.New, []byte(secret))
		head, signature, _ := strings.Cut(call.Header.Get("X-S"), ".")
		claims, signature, _ := strings.Cut(signature, ".")
		mac.Write([]byte(head + "." + claims))
		if signature != base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) {
			t.Errorf("with %d bytes the signature is none that others make", len(secret))
		}
	}
}
