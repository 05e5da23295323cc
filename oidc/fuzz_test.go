package oidc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice"
)

func FuzzAccess(f *testing.F) {
	f.Add("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.")
	f.Add("eyJhbGciOiJFUzI1NiIsImtpZCI6Ii4uLy4uIiwidHlwIjoiYXQrand0In0.e30.AAAA")
	f.Add(strings.Repeat(".", 64))
	f.Add(`{"payload":"e30","signatures":[]}`)
	key := &listed[sluice.SigningKey]{records: []*sluice.SigningKey{fuzzKey(f)}}
	issuer := NewIssuer(IssuerOptions{
		BaseURL: "http://localhost", Namespace: "default", Sessions: &listed[sluice.Session]{}, Keys: key,
		AccessTTL: time.Minute, RefreshTTL: time.Hour, Rotation: 1 << 62,
	})
	signing, err := parseKey(key.records[0])
	if err != nil {
		f.Fatal(err)
	}
	// Signed by the right key, and of a session that is over: one step from good.
	signed, err := signing.sign(issuer.accessClaims(issue{
		user: userName, client: &sluice.Client{ID: publicID}, session: new(sluice.Session), now: time.Now(), expires: time.Now().Add(time.Hour),
	}), accessType)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed)
	f.Fuzz(func(t *testing.T, token string) {
		_, err := issuer.Access(t.Context(), token)
		if err == nil || sluice.AsError(err).Code != "invalid_token" {
			t.Errorf("%q gives %v", token, err)
		}
	})
}

// fuzzKey returns a key whose id is the same in every run, so that the corpus
// gets as far as the signature.
func fuzzKey(f *testing.F) *sluice.SigningKey {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		f.Fatal(err)
	}
	return &sluice.SigningKey{ID: "AAAAAAAAAAAAAAAAAAAAAA", Private: encoded, Created: time.Now()}
}

func FuzzClientHeader(f *testing.F) {
	f.Add("Basic cm9ib3Q6c2VjcmV0")
	f.Add("basic  OjpA")
	f.Add("Basic cm9ib3Q6JTAw")
	f.Add("Bearer x")
	f.Fuzz(func(t *testing.T, header string) {
		id, secret, ok := parseClientHeader(header)
		if !ok {
			if id != "" || secret != "" {
				t.Errorf("%q is refused and gives %q, %q", header, id, secret)
			}
			return
		}
		if id == "" || !plain(id) || !plain(secret) {
			t.Errorf("%q gives %q, %q", header, id, secret)
		}
		pair := url.QueryEscape(id) + ":" + url.QueryEscape(secret)
		again, secretAgain, ok := parseClientHeader("Basic " + base64.StdEncoding.EncodeToString([]byte(pair)))
		if !ok || again != id || secretAgain != secret {
			t.Errorf("%q, %q come back as %q, %q", id, secret, again, secretAgain)
		}
	})
}

func FuzzRefreshToken(f *testing.F) {
	f.Add(random(familySize) + "." + random(secretSize))
	f.Add(".")
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, token string) {
		id, ok := parseRefresh(token)
		if ok != (id != "") {
			t.Errorf("%q gives %q, %v", token, id, ok)
		}
		if ok && (len(token) != 87 || strings.Count(token, ".") != 1) {
			t.Errorf("%q is taken", token)
		}
	})
}

func FuzzForm(f *testing.F) {
	f.Add("grant_type=password&username=a&password=b")
	f.Add("a=1&a=2")
	f.Add("%zz=;&&=")
	f.Fuzz(func(t *testing.T, body string) {
		form, err := parseForm(body)
		if err != nil {
			if sluice.AsError(err).Code != "invalid_request" {
				t.Errorf("%q gives %v", body, err)
			}
			return
		}
		for name, value := range form {
			if value == "" || !plain(name) || !plain(value) {
				t.Errorf("%q gives %q = %q", body, name, value)
			}
		}
	})
}
