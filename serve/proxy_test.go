package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// proxied makes a call on a connection that begins with what a proxy says.
func (s *service) proxied(preface string, h hook, more string) answer {
	s.t.Helper()
	conn, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", s.server.Address())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%sPOST %s HTTP/1.1\r\nHost: x\r\nToken: %s\r\n%sContent-Length: 2\r\n\r\nhi", preface, receivePath, h.UUID, more)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{} // the connection was closed
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, content}
}

// addressOf returns the address that a call is filed with.
func (s *service) addressOf(call answer) any {
	s.t.Helper()
	found := s.command("trace.get", map[string]any{"traceId": call.header.Get("Svc-Trace-Id")}).wantStatus(s.t, 200).object(s.t)
	return found["items"].([]any)[0].(map[string]any)["remoteAddr"]
}

const (
	firstVersion  = "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n"
	secondVersion = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x08\xc6\x33\x64\x01\x12\x67\x01\xbb"
)

// TestProxyProtocol: proxies say whose connections they pass on, be it to the
// lane or to net/http.
func TestProxyProtocol(t *testing.T) {
	s := start(t, "proxy-protocol=127.0.0.0/8")
	s.client.Transport = proxyTransport()
	h := s.create("webhook.proxied")
	for name, test := range map[string]struct{ preface, more, want string }{
		"version 1":               {firstVersion, "", "192.0.2.7"},
		"version 2":               {secondVersion, "", "192.0.2.8"},
		"by net/http":             {firstVersion, "Pragma: other\r\n", "192.0.2.7"},
		"a check of the proxy's":  {"PROXY UNKNOWN\r\n", "", "127.0.0.1"},
		"a header of the clients": {firstVersion, "X-Forwarded-For: 203.0.113.1\r\n", "192.0.2.7"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.proxied(test.preface, h, test.more).wantStatus(t, 200)
			if address := s.addressOf(got); address != test.want {
				t.Errorf("the call came from %v, want %s", address, test.want)
			}
		})
	}
	if got := s.proxied("", h, ""); got.status != 0 {
		t.Errorf("a connection of the proxy that says nothing is answered %v", got)
	}
}

// TestProxyProtocolFromElsewhere: nobody else is believed.
func TestProxyProtocolFromElsewhere(t *testing.T) {
	s := start(t, "proxy-protocol=10.0.0.0/8")
	h := s.create("webhook.proxied")
	s.proxied(firstVersion, h, "").wantStatus(t, http.StatusBadRequest)
	if address := s.addressOf(s.proxied("", h, "").wantStatus(t, 200)); address != "127.0.0.1" {
		t.Errorf("the call came from %v", address)
	}
}

// proxyTransport connects as a proxy does that checks a server.
func proxyTransport() *http.Transport {
	transport := newClient().Transport.(*http.Transport)
	transport.DisableKeepAlives = true
	transport.DialContext = dialAsProxy
	return transport
}

func dialAsProxy(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		_, err = io.WriteString(conn, "PROXY UNKNOWN\r\n")
	}
	return conn, err
}

// TestForwardedHeader: one header is read, and the other one is not.
func TestForwardedHeader(t *testing.T) {
	s := start(t, "trusted-proxies=127.0.0.0/8", "forwarded-header=forwarded")
	h := s.create("webhook.forwarded")
	got := s.call(h, "text/plain", "x", header("Forwarded", "for=192.0.2.9;proto=https"), header("X-Forwarded-For", "203.0.113.1"))
	if address := s.addressOf(got.wantStatus(t, 200)); address != "192.0.2.9" {
		t.Errorf("the call came from %v", address)
	}
}
