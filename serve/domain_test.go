package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/jetstream/natstest"
	"sluice/serve"
)

// startACME runs an ACME server that others wrote, which finds every name on this machine, and
// gives its URL.
func startACME(t *testing.T, plain, secure string) string {
	t.Helper()
	if os.Getenv("TEST_ACME") == "" {
		t.Skip("No ACME server was tried: building one takes half a minute. Set TEST_ACME=1 to do so.")
	}
	program := filepath.Join(t.TempDir(), "acme")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "testdata/acme"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("can't build the ACME server: %v\n%s", err, out)
	}
	acme := exec.CommandContext(context.Background(), program, portOf(plain), portOf(secure)) // ends with its input
	acme.Stderr = os.Stderr
	stop, err := acme.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := acme.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := acme.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stop.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = acme.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// fetch gets a URL, wherever its host is, and returns what it says.
func fetch(t *testing.T, client *http.Client, url string) answer {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, content}
}

// TestDomain: with a name the server has HTTPS by itself. Strangers can't make it order
// certificates, and a restart needs none.
func TestDomain(t *testing.T) {
	secure, plain, inside := freeAddress(t), freeAddress(t), freeAddress(t)
	acme := startACME(t, plain, secure)
	trusting := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(trusting.CloseIdleConnections)
	s := &service{t: t, log: new(transcript), client: newClient(), config: load(t, newFolder(t), "listen="+inside, "domain=hooks.example.com,Other.example.com", "acme-directory="+acme+"/dir", "acme-email=ops@example.com")}
	begin := func() {
		t.Helper()
		s.behind(serve.Doors{HTTPS: secure, HTTP: plain, ACME: trusting})
		if _, _, err := s.server.CreateAdmin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	begin()
	t.Cleanup(s.stop)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(fetch(t, &http.Client{Transport: trusting}, acme+"/roots/0").body) {
		t.Fatal("the ACME server shows no root")
	}
	serial := func(name string) (string, error) { return serialOf(secure, roots, name) }
	var first string
	for _, name := range []string{"other.example.com", "hooks.example.com"} {
		eventually(t, "the certificate of "+name, func() (ok bool) {
			var err error
			first, err = serial(name)
			return err == nil
		})
	}
	orders := func() string { return string(fetch(t, &http.Client{Transport: trusting}, acme+"/orders").body) }
	if got := orders(); got != "2" {
		t.Errorf("there were %s orders", got)
	}
	for _, stranger := range []string{"evil.example.com", "hooks.example.com.evil.org", "*.example.com"} {
		if _, err := serial(stranger); err == nil {
			t.Errorf("there is a certificate for %s", stranger)
		}
	}
	old := &tls.Config{RootCAs: roots, ServerName: "hooks.example.com", MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}
	if conn, err := tls.Dial("tcp", secure, old); err == nil { // who can't have this certificate causes no other
		_ = conn.Close()
		t.Error("a client without ECDSA is served")
	}
	if got := orders(); got != "2" {
		t.Errorf("strangers have caused orders: %s", got)
	}

	client := newClient()
	client.Transport = &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, secure)
		},
	}
	t.Cleanup(client.CloseIdleConnections)
	if got := fetch(t, client, "https://hooks.example.com/readyz").wantStatus(t, 200); got.header.Get("Strict-Transport-Security") == "" {
		t.Errorf("HTTPS answers %v", got)
	}
	fetch(t, s.client, "http://"+inside+"/readyz").wantStatus(t, 200)
	request, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+plain+"/hook/x?a=b", nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"other.example.com": "https://other.example.com/hook/x?a=b", "evil.example.org:80": "https://hooks.example.com/hook/x?a=b"} {
		request.Host = host
		redirect, err := s.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = redirect.Body.Close()
		if redirect.StatusCode != http.StatusPermanentRedirect || redirect.Header.Get("Location") != want {
			t.Errorf("%s is sent to %d %s", host, redirect.StatusCode, redirect.Header.Get("Location"))
		}
	}
	if url := s.server.URL(); url != "https://hooks.example.com" {
		t.Errorf("the base URL is %s", url)
	}

	client.CloseIdleConnections()
	s.stop()
	noneIn(t, s.config.Data, "PRIVATE KEY", "hooks.example.com")
	begin()
	var again string
	eventually(t, "the certificate after a restart", func() bool {
		again, err = serial("hooks.example.com")
		return err == nil
	})
	if got := orders(); again != first || got != "2" {
		t.Errorf("after a restart the certificate is %s, was %s, with %s orders", again, first, got)
	}
}

// behind starts a server with the doors of its domains.
func (s *service) behind(doors serve.Doors) {
	s.t.Helper()
	server, err := serve.Start(s.t.Context(), s.config, serve.Options{AdminPassword: adminPassword, Log: s.log.logger(), Doors: doors})
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = server
}

// serialOf returns the number of the certificate that a server shows for a name.
func serialOf(address string, roots *x509.CertPool, name string) (string, error) {
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: name})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// TestNodesShareACertificate: a node shows the certificate that another one has ordered. The
// ACME server calls the first node alone.
func TestNodesShareACertificate(t *testing.T) {
	secure, plain := freeAddress(t), freeAddress(t)
	acme := startACME(t, plain, secure)
	trusting := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(trusting.CloseIdleConnections)
	nats := natstest.Start(natstest.Options())
	t.Cleanup(nats.Shutdown)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(fetch(t, &http.Client{Transport: trusting}, acme+"/roots/0").body) {
		t.Fatal("the ACME server shows no root")
	}
	var serials []string
	for _, doors := range []serve.Doors{{HTTPS: secure, HTTP: plain, ACME: trusting}, {HTTPS: freeAddress(t), HTTP: freeAddress(t), ACME: trusting}} {
		node := &service{t: t, log: new(transcript), client: newClient(), config: load(t, newFolder(t), "nats="+nats.ClientURL(), "secret-key="+strings.Repeat("0f", 32), "domain=hooks.example.com", "acme-directory="+acme+"/dir")}
		node.behind(doors)
		t.Cleanup(node.stop)
		eventually(t, "the certificate of "+doors.HTTPS, func() bool {
			serial, err := serialOf(doors.HTTPS, roots, "hooks.example.com")
			if err == nil {
				serials = append(serials, serial)
			}
			return err == nil
		})
	}
	if orders := string(fetch(t, &http.Client{Transport: trusting}, acme+"/orders").body); serials[0] != serials[1] || orders != "1" {
		t.Errorf("the nodes show the certificates %v, after %s orders", serials, orders)
	}
}

// noneIn checks that no file of a folder has one of some texts in it.
func noneIn(t *testing.T, folder string, texts ...string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("%s has %q in it", path, text)
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestDomainWithoutAnACMEServer: the server takes calls inside, and says what is missing.
func TestDomainWithoutAnACMEServer(t *testing.T) {
	t.Parallel()
	inside, opts := freeAddress(t), serve.Options{AdminPassword: adminPassword, Log: new(transcript).logger()}
	opts.Doors.HTTPS, opts.Doors.HTTP = "127.0.0.1:0", "127.0.0.1:0"
	server, err := serve.Start(t.Context(), load(t, newFolder(t), "listen="+inside, "domain=hooks.example.com", "acme-directory=http://"+freeAddress(t)+"/dir"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	if _, _, err := server.CreateAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := newClient()
	t.Cleanup(client.CloseIdleConnections)
	eventually(t, "the warning", func() bool {
		return strings.Contains(string(fetch(t, client, "http://"+inside+"/readyz").wantStatus(t, 200).body), "there is no certificate for hooks.example.com")
	})
	if _, err := tls.Dial("tcp", server.Address(), &tls.Config{InsecureSkipVerify: true, ServerName: "hooks.example.com"}); err == nil {
		t.Error("there is a certificate")
	}
}
