package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/serve"
)

// startTLS runs a server with a self-signed certificate in a folder.
func startTLS(t *testing.T, settings ...string) (s *service, folder string) {
	t.Helper()
	return startTLSFor(t, serve.Timeouts{}, settings...)
}

// startTLSFor does so with other time-outs than the usual ones.
func startTLSFor(t *testing.T, timeouts serve.Timeouts, settings ...string) (s *service, folder string) {
	t.Helper()
	folder = t.TempDir()
	certificate := writeCertificate(t, folder, 1, time.Hour)
	s = startFor(t, timeouts, append(settings, "tls-cert="+filepath.Join(folder, "cert.pem"), "tls-key="+filepath.Join(folder, "key.pem"))...)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	s.client.Transport = &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	return s, folder
}

// TestTLS: with a certificate the service speaks HTTPS and HTTP/2, and says so in
// the URLs it gives out.
func TestTLS(t *testing.T) {
	t.Parallel()
	s, _ := startTLS(t)
	hook := s.create("webhook.tls")
	if want := "https://" + s.server.Address() + receivePath + "?token=" + hook.UUID; hook.WebhookURL != want {
		t.Errorf("webhookUrl is %s, want %s", hook.WebhookURL, want)
	}
	response, err := s.client.Post(hook.WebhookURL, "text/plain", strings.NewReader("hi"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		t.Errorf("answered %s over %s, want 200 over HTTP/2", response.Status, response.Proto)
	}
	wantOrigin("hi")(t, s.events()[response.Header.Get("Svc-Trace-Id")])
}

// TestTLSIsRequired: who speaks plain HTTP to a server with a certificate is
// told so, and reaches no webhook.
func TestTLSIsRequired(t *testing.T) {
	t.Parallel()
	s, _ := startTLS(t)
	hook := s.create("webhook.plain")
	w := s.dial(t)
	w.say(request("GET "+receivePath+" HTTP/1.0", "Token: "+hook.UUID))
	w.hear(http.MethodGet).wantStatus(t, http.StatusBadRequest)
	w.wantClosed()
	wantExactly(t, s.events(), nil)
}

// TestCertificateIsReadAgain: a renewed certificate is used without a restart;
// until its files fit together, the old one stays in use.
func TestCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	s, folder := startTLS(t)
	if got := s.serialNumber(t); got != 1 {
		t.Fatalf("the certificate has the serial number %d, want 1", got)
	}
	if err := os.WriteFile(filepath.Join(folder, "key.pem"), []byte("half of a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the broken key to be noticed", func() bool {
		if got := s.serialNumber(t); got != 1 {
			t.Fatalf("the certificate has the serial number %d, want 1", got)
		}
		return strings.Contains(s.log.String(), "the old one stays")
	})
	writeCertificate(t, folder, 2, 30*24*time.Hour)
	eventually(t, "the new certificate", func() bool { return s.serialNumber(t) == 2 })
}

// TestCertificateEnds: a certificate that callers refuse, or soon will, is warned
// of until it is replaced.
func TestCertificateEnds(t *testing.T) {
	t.Parallel()
	s, folder := startTLS(t)
	warned := func(text string) func() bool {
		return func() bool {
			ready := s.send("GET", "/readyz", nil).wantStatus(t, 200).String()
			stats := s.command("server.stats", nil).wantStatus(t, 200).String()
			return strings.Contains(ready, text) && strings.Contains(stats, text)
		}
	}
	eventually(t, "a warning of the end", warned("expires on"))
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	writeCertificate(t, folder, 2, -time.Hour)
	eventually(t, "a warning of a certificate that has expired", warned("expired on"))
	writeCertificate(t, folder, 3, 30*24*time.Hour)
	eventually(t, "no warning", func() bool {
		return !strings.Contains(s.send("GET", "/readyz", nil).String()+s.command("server.stats", nil).String(), "tls-cert")
	})
}

// serialNumber returns the number of the certificate that is served now.
func (s *service) serialNumber(t *testing.T) int64 {
	t.Helper()
	conn := s.dialTLS(t)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// dialTLS opens a connection on which HTTP/2 will be spoken, whatever the
// certificate is.
func (s *service) dialTLS(t *testing.T) *tls.Conn {
	t.Helper()
	settings := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", s.server.Address(), settings)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// writeCertificate writes a self-signed certificate for this machine and its key.
func writeCertificate(t *testing.T, folder string, serial int64, lasts time.Duration) (certificate []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(serial),
		NotAfter:              time.Now().Add(lasts),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})
	for name, content := range map[string][]byte{
		"cert.pem": certificate,
		"key.pem":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate
}
