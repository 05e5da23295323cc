package serve_test

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/serve"
)

// manyFields are lines of headers, each with a name of its own.
func manyFields(count int) string {
	var lines strings.Builder
	for i := range count {
		fmt.Fprintf(&lines, "X-%d: y\r\n", i)
	}
	return lines.String()
}

// TestHeaderFields: a request has at most 100 header fields. One with more is refused
// before its body is read, and a head that goes on is not waited for.
func TestHeaderFields(t *testing.T) {
	t.Parallel()
	plain := start(t)
	secure, _ := startTLS(t)
	dialTLS := func(t *testing.T) *wire {
		conn, err := tls.Dial("tcp", secure.server.Address(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		return newWire(t, conn)
	}
	for name, side := range map[string]struct {
		token string
		dial  func(*testing.T) *wire
	}{
		"plain": {plain.create("webhook.fields").UUID, plain.dial},
		"TLS":   {secure.create("webhook.fields").UUID, dialTLS},
	} {
		t.Run(name, func(t *testing.T) {
			// The token and the length are fields as well.
			head := "POST " + receivePath + " HTTP/1.1\r\nHost: sluice\r\nToken: " + side.token + "\r\n"
			w := side.dial(t)
			w.say(head + manyFields(98) + "Content-Length: 2\r\n\r\nhi")
			w.hear(http.MethodPost).wantStatus(t, http.StatusOK)
			w.say(head + manyFields(99) + "Content-Length: 60000\r\n\r\n") // and no body
			w.hear(http.MethodPost).wantProblem(t, http.StatusRequestHeaderFieldsTooLarge, "too-many-headers")
			w.wantClosed()

			w = side.dial(t)
			// net/http gets the connection, and with the first head it reads the second one.
			w.say(request("GET /healthz HTTP/1.1", "Host: sluice") + head + "Content-Length: 3000\r\n\r\n" + strings.Repeat("x\n", 1500))
			w.hear(http.MethodGet).wantStatus(t, http.StatusOK)
			w.hear(http.MethodPost).wantStatus(t, http.StatusOK) // lines of a body don't count
			w.say(head + manyFields(500))                        // and no end
			w.hear(http.MethodPost).wantStatus(t, http.StatusRequestHeaderFieldsTooLarge)
			w.wantClosed()
		})
	}
	t.Run("HTTP/2", func(t *testing.T) {
		many := func(r *http.Request) {
			for i := range 101 {
				r.Header.Set(fmt.Sprint("X-", i), "y")
			}
		}
		secure.send(http.MethodGet, "/healthz", nil, many).wantProblem(t, http.StatusRequestHeaderFieldsTooLarge, "too-many-headers")
	})
}

// TestHeadersTakeMemory: large heads count in the memory of strangers, and small ones are
// served while it is used up.
func TestHeadersTakeMemory(t *testing.T) {
	t.Parallel()
	s := startFor(t, serve.Timeouts{BodyIdle: time.Hour}) // opening so many connections takes a busy machine a while
	head := "POST " + receivePath + " HTTP/1.1\r\nHost: sluice\r\nX-Long: " + strings.Repeat("x", 30_000) + "\r\nContent-Length: 60000\r\n\r\n"
	refused := make(chan answer, 1)
	for range 16<<20/30_000 + 1 {
		w := s.dial(t)
		w.say(head)
		go func() {
			if _, err := w.reader.Peek(1); err == nil {
				select {
				case refused <- w.hear(http.MethodPost):
				default:
				}
			}
		}()
	}
	(<-refused).wantProblem(t, http.StatusServiceUnavailable, "overloaded")
	s.call(s.create("webhook.head"), "text/plain", "hi").wantStatus(t, http.StatusOK)
}

// blockedStream opens a stream whose answer can't leave.
func (w frameWire) blockedStream(stream uint32) {
	const endStream = 1
	w.send(frame{kind: frameHeaders, flags: flagEndHeaders | endStream, stream: stream,
		payload: fields(":method", "GET", ":scheme", "https", ":authority", "sluice", ":path", "/healthz")})
}

// TestHTTP2StreamsOfANetwork: the streams of one network are bounded over all of its
// connections. Beyond, they are refused with 503, and other networks go on.
func TestHTTP2StreamsOfANetwork(t *testing.T) {
	t.Parallel()
	s, _ := startTLS(t, "max-connections=512") // 128 streams, 64 of one network
	from := func(address string) frameWire {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: patience}
		conn, err := tls.DialWithDialer(dialer, "tcp", s.server.Address(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		w := frameWire{newWire(t, conn)}
		w.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		const initialWindow = 4
		w.send(frame{kind: frameSettings, payload: binary.BigEndian.AppendUint32([]byte{0, initialWindow}, 0)})
		return w
	}
	answered := func(w frameWire, stream uint32) byte {
		return w.await("answer", func(f frame) bool { return f.kind == frameHeaders && f.stream == stream }).payload[0]
	}
	const ok, other = 0x88, 0x4e // 200, and a status that HPACK's static table does not have
	var w frameWire
	for _, address := range []string{"127.0.2.1", "127.0.2.2"} {
		w = from(address)
		for i := range uint32(64) {
			w.blockedStream(2*i + 1)
			if got := answered(w, 2*i+1); got != ok {
				t.Fatalf("stream %d from %s is answered %x", i, address, got)
			}
		}
		again := from(address)
		again.blockedStream(1)
		if got := answered(again, 1); got != other {
			t.Errorf("a stream too many from %s is answered %x", address, got)
		}
	}
	all := from("127.0.2.3")
	all.blockedStream(1)
	if got := answered(all, 1); got != other {
		t.Errorf("a stream too many in all is answered %x", got)
	}
	_ = w.Close()
	for stream := uint32(3); ; stream += 2 {
		if all.blockedStream(stream); answered(all, stream) == ok {
			break
		}
	}
}
