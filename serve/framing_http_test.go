package serve_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/serve"
)

// TestFramingRefusedByHTTP sends what the HTTP library refuses before the
// service sees it. Only status and closing are ours to choose; what matters is
// that no event is made.
func TestFramingRefusedByHTTP(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.http")
	receive, host, token := "POST {receive} HTTP/1.1", "Host: sluice", "Token: {token}"
	cases := []rawCase{
		{name: "two different lengths", request: request(receive, host, token, "Content-Length: 2", "Content-Length: 3") + "hi!", status: 400},
		{name: "two different lengths in one header", request: request(receive, host, token, "Content-Length: 2, 3") + "hi!", status: 400},
		{name: "a negative length", request: request(receive, host, token, "Content-Length: -1") + "hi", status: 400},
		{name: "a length with a plus sign", request: request(receive, host, token, "Content-Length: +2") + "hi", status: 400},
		{name: "a length that is no number", request: request(receive, host, token, "Content-Length: 2x") + "hi", status: 400},
		{name: "a length beyond 64 bits", request: request(receive, host, token, "Content-Length: 99999999999999999999") + "hi", status: 400},
		{name: "another transfer coding than chunked", request: request(receive, host, token, "Transfer-Encoding: gzip") + "hi", status: 501},
		{name: "chunked after another transfer coding", request: request(receive, host, token, "Transfer-Encoding: gzip, chunked") + "2\r\nhi\r\n0\r\n\r\n", status: 501},
		{name: "chunked twice", request: request(receive, host, token, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + "2\r\nhi\r\n0\r\n\r\n", status: 501},
		{name: "a NUL in a header", request: request(receive, host, token, "X-Bad: a\x00b", "Content-Length: 2") + "hi", status: 400},
		{name: "a bare CR in a header", request: request(receive, host, token, "X-Bad: a\rb", "Content-Length: 2") + "hi", status: 400},
		{name: "a NUL in the token header", request: request(receive, host, "Token: {token}\x00", "Content-Length: 2") + "hi", status: 400},
		{name: "a space before the colon of a header", request: request(receive, host, "Token : {token}", "Content-Length: 2") + "hi", status: 400},
		{name: "no Host", request: request(receive, token, "Content-Length: 2") + "hi", status: 400},
		{name: "two Hosts", request: request(receive, host, "Host: other", token, "Content-Length: 2") + "hi", status: 400},
		{name: "a malformed Host", request: request(receive, "Host: a b/c", token, "Content-Length: 2") + "hi", status: 400},
		{name: "an unknown version of HTTP", request: request("POST {receive} HTTP/3.7", host, token, "Content-Length: 2") + "hi", status: 505},
		{name: "no HTTP at all", request: "hello\r\n\r\n", status: 400},
		{name: "headers beyond 32 KiB", request: request(receive, host, token, "X-Long: "+strings.Repeat("x", 33<<10), "Content-Length: 2") + "hi", status: 431},
		{name: "many headers beyond 32 KiB", request: request(receive, host, token, strings.Repeat("X-Many: x\r\n", 4<<10)+"Content-Length: 2") + "hi", status: 431},
		// RFC 9110 has 414 for this; the library counts the URI as a header.
		{name: "a URI beyond 32 KiB", request: request("POST {receive}?token={token}&a="+strings.Repeat("x", 33<<10)+" HTTP/1.1", host, "Content-Length: 2") + "hi", status: 431},
	}
	for i := range cases {
		cases[i].closes = true
	}
	suite{s, []string{"{token}", hook.UUID}, cases}.run(t)
}

// TestSlowHeaders: a client that doesn't finish its headers in time is cut off.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	s := startFor(t, serve.Timeouts{Header: 200 * time.Millisecond})
	w := s.dial(t)
	w.say("POST " + receivePath + " HTTP/1.1\r\nHost: sluice\r\nX-Slow: a")
	w.wantClosed()
}

// TestSlowBodies: a body must neither stop, nor trickle, nor go on for ever. The
// answer says so, and nothing of the machine behind it.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	// A second is enough for bodies that come as they should, also if the machine
	// is busy.
	tests := []struct {
		name     string
		longest  time.Duration // pause
		settings []string
		length   string
		trickles bool
	}{
		{"a body that stops", time.Second, nil, "Content-Length: 100", false},
		{"a chunked body that stops", time.Second, nil, "Transfer-Encoding: chunked", false},
		{"a body that trickles", time.Second, nil, "Content-Length: 100000", true},
		{"a body that takes too long in all", time.Minute, []string{"body-timeout=1s"}, "Content-Length: 100000", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := startFor(t, serve.Timeouts{BodyIdle: test.longest}, test.settings...)
			hook := s.create("webhook.slow")
			w := s.dial(t)
			w.say(request("POST "+receivePath+" HTTP/1.1", "Host: sluice", "Token: "+hook.UUID, test.length))
			if test.trickles {
				w.trickle()
			}
			got := w.hear(http.MethodPost)
			got.wantProblem(t, http.StatusRequestTimeout, "body-timeout")
			if got.header.Get("Connection") != "close" {
				t.Error("the answer doesn't say Connection: close")
			}
			for _, inside := range []string{"127.0.0.1", "i/o timeout", s.server.Address(), w.LocalAddr().String()} {
				if strings.Contains(string(got.body), inside) {
					t.Errorf("the answer tells %q: %s", inside, got.body)
				}
			}
			w.wantClosed()
			wantExactly(t, s.events(), nil)
		})
	}
}

// TestBodyOfARefusedCall: a call that is refused before its body was read can't
// hold its connection by not sending it.
func TestBodyOfARefusedCall(t *testing.T) {
	t.Parallel()
	s := startFor(t, serve.Timeouts{BodyIdle: time.Second})
	hook := s.create("webhook.refused", "maxPayloadLength", 10)
	tests := []struct {
		name, head string
		status     int
	}{
		{"for its size", request("POST {receive} HTTP/1.1", "Host: sluice", "Token: "+hook.UUID, "Content-Length: 11"), 413},
		{"for its token", request("POST {receive} HTTP/1.1", "Host: sluice", "Token: unknown", "Content-Length: 5"), 401},
		{"for its token, in chunks", request("POST {receive} HTTP/1.1", "Host: sluice", "Token: unknown", "Transfer-Encoding: chunked"), 401},
		{"for its method", request("PUT {receive} HTTP/1.1", "Host: sluice", "Content-Length: 5"), 405},
		{"for its credentials", request("POST /api/v3/command/webhook.put HTTP/1.1", "Host: sluice", "Content-Length: 5"), 401},
		{"for its path", request("POST /nowhere HTTP/1.1", "Host: sluice", "Content-Length: 5"), 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := s.dial(t)
			w.say(strings.ReplaceAll(test.head, "{receive}", receivePath))
			w.hear(http.MethodPost).wantStatus(t, test.status)
			w.wantClosed()
		})
	}
}

// trickle sends a byte now and then until an answer is there to be read.
func (w *wire) trickle() {
	w.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		w.say("x")
		_ = w.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := w.reader.Peek(1)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			w.t.Fatal(err)
		}
		_ = w.SetReadDeadline(deadline)
		return
	}
	w.t.Fatal("the server took a trickling body for ever")
}
