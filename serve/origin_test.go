package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestAllowedNetworks: a webhook takes calls from its networks only; the address is the
// client's by the rules for proxies.
func TestAllowedNetworks(t *testing.T) {
	t.Parallel()
	s := start(t, "trusted-proxies=127.0.0.0/8")
	h := s.create("webhook.near", "allow", []string{"203.0.113.0/24", "2001:db8::7"}, "signature", `{"header":"X-Key","algorithm":"plain"}`, "signingSecret", "s3cret")
	from := func(address string, more ...func(*http.Request)) answer {
		return s.call(h, "text/plain", "hi", append(more, header("X-Forwarded-For", address))...)
	}
	key := header("X-Key", "s3cret")
	from("203.0.113.9", key).wantStatus(t, 200)
	from("2001:db8::7", key).wantStatus(t, 200)
	from("203.0.113.9").wantProblem(t, 401, "signature-missing")
	from("203.0.114.9", key).wantProblem(t, 403, "address-not-allowed")
	from("203.0.113.9, 198.51.100.1", key).wantProblem(t, 403, "address-not-allowed")
	kept := s.command("quarantine.get", map[string]any{"code": "address-not-allowed"}).wantStatus(t, 200)
	if text := string(kept.body); !strings.Contains(text, "203.0.114.9, which is in none of the networks") || strings.Contains(text, "s3cret") {
		t.Errorf("the quarantine has %s", text)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "allow": []string{"203.0.112.0/22"}}).wantStatus(t, 200)
	if got := s.command("quarantine.admit", map[string]any{"code": "address-not-allowed"}).wantStatus(t, 200); !strings.Contains(string(got.body), "1") {
		t.Errorf("admitted: %s", got.body)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "allow": []string{}}).wantStatus(t, 200)
	from("198.51.100.1", key).wantStatus(t, 200)
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "allow": []string{"here"}}).wantProblem(t, 400, "parameter-invalid")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "clientCertificate": "x"}).wantProblem(t, 400, "parameter-invalid")
}

// An authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{key: key, certificate: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}}
	der, err := x509.CreateCertificate(rand.Reader, a.certificate, a.certificate, &key.PublicKey, key)
	if err == nil {
		a.certificate, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// client returns a certificate for a name, by an authority.
func (a authority) client(t *testing.T, name string, use x509.ExtKeyUsage, valid time.Duration) tls.Certificate {
	t.Helper()
	return a.certify(t, "client of "+name, []string{name}, use, valid)
}

func (a authority) certify(t *testing.T, common string, names []string, use x509.ExtKeyUsage, valid time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: common}, DNSNames: names, ExtKeyUsage: []x509.ExtKeyUsage{use},
		BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func pemCertificate(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestClientCertificatesOfProxies: only trusted proxies are believed, in either form.
func TestClientCertificatesOfProxies(t *testing.T) {
	t.Parallel()
	s := start(t, "trusted-proxies=127.0.0.1", "client-certificate-header=x-client-cert")
	ours, theirs := newAuthority(t), newAuthority(t)
	good, wide := ours.client(t, "bank.example", x509.ExtKeyUsageClientAuth, time.Hour), ours.client(t, "other.example", x509.ExtKeyUsageClientAuth, time.Hour)
	h := s.create("webhook.bank", "clientCertificate", pemCertificate(ours.certificate.Raw), "clientName", "Bank.example")
	pinned := s.create("webhook.pinned", "clientCertificate", pemCertificate(ours.client(t, "x", x509.ExtKeyUsageServerAuth, time.Hour).Certificate[0])+pemCertificate(wide.Certificate[0]))
	nginx := func(c tls.Certificate) string { return url.PathEscape(pemCertificate(c.Certificate[0])) }
	rfc := func(c tls.Certificate) string { return ":" + base64.StdEncoding.EncodeToString(c.Certificate[0]) + ":" }
	for name, test := range map[string]struct {
		hook   hook
		value  string
		status int
		code   string
	}{
		"nginx":             {h, nginx(good), 200, ""},
		"RFC 9440":          {h, rfc(good), 200, ""},
		"none":              {h, "", 401, "certificate-missing"},
		"another name":      {h, rfc(wide), 401, "certificate-invalid"},
		"its CN alone":      {h, rfc(ours.certify(t, "bank.example", nil, x509.ExtKeyUsageClientAuth, time.Hour)), 200, ""},
		"its CN and a name": {h, rfc(ours.certify(t, "bank.example", []string{"other.example"}, x509.ExtKeyUsageClientAuth, time.Hour)), 401, "certificate-invalid"},
		"another authority": {h, rfc(theirs.client(t, "bank.example", x509.ExtKeyUsageClientAuth, time.Hour)), 401, "certificate-invalid"},
		"another use":       {h, rfc(ours.client(t, "bank.example", x509.ExtKeyUsageServerAuth, time.Hour)), 401, "certificate-invalid"},
		"expired":           {h, rfc(ours.client(t, "bank.example", x509.ExtKeyUsageClientAuth, -time.Minute)), 401, "certificate-invalid"},
		"no base64":         {h, ":%:", 401, "certificate-invalid"},
		"no certificate":    {h, "hello", 401, "certificate-invalid"},
		"pinned":            {pinned, rfc(wide), 200, ""},
		"not pinned":        {pinned, rfc(good), 401, "certificate-invalid"},
	} {
		got := s.call(test.hook, "text/plain", "hi", func(r *http.Request) {
			if test.value != "" {
				r.Header.Set("X-Client-Cert", test.value)
			}
		})
		if test.status == 200 {
			got.wantStatus(t, 200)
		} else if got.status != test.status || !strings.Contains(string(got.body), test.code) {
			t.Errorf("%s: %s", name, got)
		}
	}
	kept := s.command("quarantine.get", map[string]any{"code": "certificate-invalid", "limit": 100}).wantStatus(t, 200)
	if text := string(kept.body); !strings.Contains(text, "not for Bank.example") || !strings.Contains(text, "unknown authority") {
		t.Errorf("the quarantine has %s", text)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "clientName": ""}).wantStatus(t, 200)
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "clientCertificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"}).wantProblem(t, 400, "parameter-invalid")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "clientCertificate": ""}).wantStatus(t, 200)
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "clientName": "x"}).wantProblem(t, 400, "parameter-invalid")

	strange := start(t, "trusted-proxies=192.0.2.1", "client-certificate-header=x-client-cert")
	h = strange.create("webhook.bank", "clientCertificate", pemCertificate(ours.certificate.Raw))
	strange.call(h, "text/plain", "hi", header("X-Client-Cert", rfc(good))).wantProblem(t, 401, "certificate-missing")
}

// TestClientCertificatesOfConnections: the server asks for one only while some webhook
// demands it, and a rejected call is checked again with the certificate that it had.
func TestClientCertificatesOfConnections(t *testing.T) {
	t.Parallel()
	s, _ := startTLS(t)
	ours, theirs := newAuthority(t), newAuthority(t)
	transport := s.client.Transport.(*http.Transport)
	asked := 0
	connect := func(with authority) {
		certificate := with.client(t, "bank.example", x509.ExtKeyUsageClientAuth, time.Hour)
		transport.CloseIdleConnections()
		transport = transport.Clone()
		transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked++
			return &certificate, nil
		}
		s.client.Transport = transport
	}
	connect(ours)
	h := s.create("webhook.bank", "signature", `{"algorithm":"basic"}`, "signingSecret", "bank:secret")
	s.call(h, "text/plain", "hi", func(r *http.Request) { r.SetBasicAuth("bank", "secret") }).wantStatus(t, 200)
	if asked > 0 {
		t.Error("a certificate was asked for, and nobody demands one")
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "clientCertificate": pemCertificate(ours.certificate.Raw), "signature": ""}).wantStatus(t, 200)
	s.call(h, "text/plain", "on the old connection").wantProblem(t, 401, "certificate-missing")
	s.call(h, "text/plain", "hi").wantStatus(t, 200)
	connect(theirs)
	s.call(h, "text/plain", "hi").wantProblem(t, 401, "certificate-invalid")
	admit := func() answer { return s.command("quarantine.admit", map[string]any{"code": "certificate-invalid"}) }
	if got := admit(); strings.Contains(string(got.body), `"admitted":1`) {
		t.Errorf("admitted: %s", got)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "clientCertificate": pemCertificate(theirs.certificate.Raw)}).wantStatus(t, 200)
	if got := admit().wantStatus(t, 200); !strings.Contains(string(got.body), `"admitted":1`) {
		t.Errorf("not admitted: %s", got)
	}
	s.command("webhook.delete", map[string]any{"uuid": h.UUID}).wantStatus(t, 200)
	asked = 0
	connect(ours)
	s.create("webhook.other")
	if asked > 0 {
		t.Error("a certificate is still asked for")
	}
}
