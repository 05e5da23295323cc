package deploy_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	ownAddress = "127.0.0.7"   // that clients of a proxy come from
	forged     = "203.0.113.9" // that they claim
)

// A visitor calls a server through a proxy.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
	token  string // of a webhook

	accessLog string // of the proxy, if it writes one
}

// visit returns a visitor who has made a webhook.
func visit(t *testing.T, base string) *visitor {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ownAddress)}}
	transport := &http.Transport{
		DialContext:       dialer.DialContext,
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}
	t.Cleanup(transport.CloseIdleConnections)
	v := &visitor{t: t, base: base, client: &http.Client{Transport: transport, Timeout: patience}}
	var hook struct {
		UUID string `json:"uuid"`
	}
	status, body := v.command("webhook.put", `{"eventKey":"webhook.visit","maxPayloadLength":512000}`)
	if err := json.Unmarshal([]byte(body), &hook); err != nil || status != http.StatusOK {
		t.Fatalf("webhook.put is answered %d: %s", status, body)
	}
	v.token = hook.UUID
	return v
}

func (v *visitor) request(method, path, body string) *http.Request {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", forged)
	r.Header.Set("Forwarded", "for="+forged)
	return r
}

func (v *visitor) send(r *http.Request) (status int, header http.Header, body string) {
	v.t.Helper()
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode, response.Header, readAll(v.t, response.Body)
}

func (v *visitor) command(name, parameters string) (status int, body string) {
	v.t.Helper()
	r := v.request(http.MethodPost, "/api/v3/command/"+name, parameters)
	r.SetBasicAuth("admin", adminPassword)
	r.Header.Set("Content-Type", "application/json")
	status, _, body = v.send(r)
	return status, body
}

// call calls the webhook.
func (v *visitor) call(token, body string) (status int, header http.Header, answer string) {
	v.t.Helper()
	r := v.request(http.MethodPost, "/api/v3/command/webhook.receive", body)
	r.Header.Set("Token", token)
	r.Header.Set("Content-Type", "text/plain")
	return v.send(r)
}

// knownBy wants the server to know the address that the visitor has.
func (v *visitor) knownBy(want string) {
	v.t.Helper()
	status, header, body := v.call(v.token, "hello")
	if status != http.StatusOK {
		v.t.Fatalf("a call is answered %d: %s", status, body)
	}
	_, found := v.command("trace.get", `{"traceId":"`+header.Get("Svc-Trace-Id")+`"}`)
	if !strings.Contains(found, `"remoteAddr":"`+want+`"`) {
		v.t.Errorf("the call does not come from %s: %s", want, found)
	}
}

// refused wants a long call that the server refuses to be answered by the server.
func (v *visitor) refused(token string, want int) {
	v.t.Helper()
	long := strings.Repeat("x", 2<<20)
	for range 20 { // a connection that is cut off is a matter of timing
		status, header, body := v.call(token, long)
		if status != want || header.Get("Content-Type") != "application/problem+json" {
			v.t.Errorf("a refused call is answered %d, want %d: %.200s", status, want, body)
			return
		}
	}
}

// follows wants events to arrive as they happen, on a stream that stays open.
func (v *visitor) follows() {
	v.t.Helper()
	ctx, cancel := context.WithCancel(v.t.Context())
	defer cancel()
	r := v.request(http.MethodGet, "/api/v3/events", "").WithContext(ctx)
	r.SetBasicAuth("admin", adminPassword)
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() || lines.Text() != ": following" {
		v.t.Fatalf("the stream begins with %q", lines.Text())
	}
	if status, _, body := v.call(v.token, "an event"); status != http.StatusOK {
		v.t.Fatalf("a call is answered %d: %s", status, body)
	}
	for lines.Scan() {
		if lines.Text() == "event: call" {
			return
		}
	}
	v.t.Errorf("the event does not arrive: %v", lines.Err())
}

func (v *visitor) all(t *testing.T) {
	t.Helper()
	for name, test := range map[string]func(){
		"the client's address":    func() { v.knownBy(ownAddress) },
		"a body that is too long": func() { v.refused(v.token, http.StatusRequestEntityTooLarge) },
		"a body without a token":  func() { v.refused("wrong", http.StatusUnauthorized) },
		"a stream of events":      v.follows,
	} {
		t.Run(name, func(t *testing.T) {
			outer := v.t
			defer func() { v.t = outer }()
			v.t = t
			test()
		})
	}
}

// certificate writes a certificate for localhost and its key, apart and as one.
func certificate(t *testing.T) (cert, key, both string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certText := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	keyText := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
	return write(t, "cert.pem", certText), write(t, "key.pem", keyText), write(t, "both.pem", certText+keyText)
}

// throughNginx returns a visitor who comes through nginx with the sample, in
// which these texts are replaced.
func throughNginx(t *testing.T, replaced map[string]string) *visitor {
	t.Helper()
	needs(t, "nginx")
	s := startServer(t, "trusted-proxies=127.0.0.1")
	cert, key, _ := certificate(t)
	https := freePort(t)
	accessLog := filepath.Join(t.TempDir(), "access.log")
	maps.Copy(replaced, map[string]string{
		"/var/log/nginx/sluice.log": accessLog,
		"127.0.0.1:8080":            s.Address(),
		"listen 443":                "listen " + https,
		"listen 80;":                "listen " + freePort(t) + ";",
		"/etc/letsencrypt/live/hooks.example.com/fullchain.pem": cert,
		"/etc/letsencrypt/live/hooks.example.com/privkey.pem":   key,
	})
	site := adapted(t, "proxy/nginx.conf", replaced)
	prefix := t.TempDir()
	text := "user root;\npid " + prefix + "/pid;\nerror_log stderr;\nevents {}\nhttp {\n"
	for _, use := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text += use + "_temp_path " + prefix + "/" + use + ";\n"
	}
	whole := write(t, "whole.conf", text+"include "+site+";\n}\n")
	run(t, nil, ".", "nginx", "-t", "-q", "-p", prefix, "-c", whole)
	background(t, nil, "nginx", "-p", prefix, "-c", whole, "-g", "daemon off;")
	listening(t, https)
	v := visit(t, "https://"+https)
	v.accessLog = accessLog
	return v
}

// leavesNoToken wants the token of a call, which is in its URL, not to be in the
// proxy's log of that call.
func (v *visitor) leavesNoToken() {
	v.t.Helper()
	const path = "/api/v3/command/webhook.receive"
	if status, _, body := v.send(v.request(http.MethodPost, path+"?token="+v.token, "hello")); status != http.StatusOK {
		v.t.Fatalf("a call is answered %d: %s", status, body)
	}
	var logged string
	eventually(v.t, "the call in the log", func() bool {
		logged = read(v.t, v.accessLog)
		return strings.Contains(logged, path)
	})
	if strings.Contains(logged, v.token) {
		v.t.Errorf("the log has the token:\n%s", logged)
	}
}

func TestNginxLogsNoTokens(t *testing.T) { throughNginx(t, map[string]string{}).leavesNoToken() }

func TestNginx(t *testing.T) { throughNginx(t, map[string]string{}).all(t) }

// TestNginxAsItIs: without the lines that keep connections open, nginx speaks
// HTTP/1.0 to the server.
func TestNginxAsItIs(t *testing.T) {
	throughNginx(t, map[string]string{
		"proxy_http_version 1.1;":         "",
		`proxy_set_header Connection "";`: "",
		"keepalive 64;":                   "",
	}).all(t)
}

// TestNginxUnbuffered: bodies reach the server while they arrive, so a refusal
// meets a body that is on its way.
func TestNginxUnbuffered(t *testing.T) {
	throughNginx(t, map[string]string{
		"proxy_next_upstream off;": "proxy_next_upstream off; proxy_request_buffering off;",
	}).all(t)
}

func TestCaddy(t *testing.T) {
	needs(t, "caddy")
	s := startServer(t, "trusted-proxies=127.0.0.1")
	https := freePort(t)
	_, port, _ := net.SplitHostPort(https)
	_, other, _ := net.SplitHostPort(freePort(t))
	file := write(t, "Caddyfile", "{\n\tadmin off\n\tskip_install_trust\n\thttp_port "+other+"\n\thttps_port "+port+"\n}\n"+read(t, "proxy/Caddyfile"))
	environ := []string{"SLUICE_HOST=localhost", "SLUICE_NODES=" + s.Address(), "XDG_DATA_HOME=" + t.TempDir(), "XDG_CONFIG_HOME=" + t.TempDir()}
	background(t, environ, "caddy", "run", "--config", file, "--adapter", "caddyfile")
	base := "https://localhost:" + port
	eventually(t, "a certificate", func() bool {
		conn, err := new(tls.Dialer).DialContext(t.Context(), "tcp", "localhost:"+port)
		if err == nil {
			_ = conn.Close()
			return true
		}
		_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
		return unknown
	})
	visit(t, base).all(t)
}

func TestHAProxy(t *testing.T) {
	needs(t, "haproxy")
	s := startServer(t, "trusted-proxies=127.0.0.1")
	_, _, both := certificate(t)
	https := freePort(t)
	file := adapted(t, "proxy/haproxy.cfg", map[string]string{
		"127.0.0.1:8080":                     s.Address(),
		"bind :443":                          "bind " + https,
		"bind :80\n":                         "bind " + freePort(t) + "\n",
		"/etc/haproxy/hooks.example.com.pem": both,
	})
	run(t, nil, ".", "haproxy", "-c", "-f", file)
	background(t, nil, "haproxy", "-db", "-f", file)
	listening(t, https)
	visit(t, "https://"+https).all(t)
}

// TestHAProxyPassingConnectionsOn: the server serves TLS itself, and learns the
// address by the PROXY protocol.
func TestHAProxyPassingConnectionsOn(t *testing.T) {
	needs(t, "haproxy")
	cert, key, _ := certificate(t)
	s := startServer(t, "proxy-protocol=127.0.0.1", "tls-cert="+cert, "tls-key="+key)
	https := freePort(t)
	file := adapted(t, "proxy/haproxy-tcp.cfg", map[string]string{
		"127.0.0.1:8443": s.Address(),
		"bind :443":      "bind " + https,
	})
	run(t, nil, ".", "haproxy", "-c", "-f", file)
	background(t, nil, "haproxy", "-db", "-f", file)
	listening(t, https)
	visit(t, "https://"+https).all(t)
}
