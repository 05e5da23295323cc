package serve_test

import (
	"encoding/base64"
	"encoding/binary"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/serve"
)

// fields returns headers as HPACK has them, each written out.
func fields(all ...string) (block []byte) {
	for i := 0; i < len(all); i += 2 {
		block = append(append(block, 0, byte(len(all[i]))), all[i]...)
		block = append(append(block, byte(len(all[i+1]))), all[i+1]...)
	}
	return block
}

// TestHTTP2ClientThatNeverReads: a stream on which nothing gets through ends,
// although the connection is read.
func TestHTTP2ClientThatNeverReads(t *testing.T) {
	t.Parallel()
	s, _ := startTLSFor(t, serve.Timeouts{Write: 2 * time.Second}, untilDone)
	hook := s.create("webhook.unread", "maxPayloadLength", 1<<20)
	s.store("large", listening("webhook.unread", "set: {value: '#{repeat(\"x\", 1000000)}'}"))
	id := s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK).header.Get("Svc-Result-Correlationid")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+adminPassword))
	for name, path := range map[string]string{
		"an answer": "/openapi.json",
		"a result":  resultPath + "?svc-result-correlationid=" + id,
		"events":    "/api/v3/events",
	} {
		t.Run(name, func(t *testing.T) {
			w := frameWire{newWire(t, s.dialTLS(t))}
			w.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
			const initialWindow, endStream = 4, 1
			w.send(frame{kind: frameSettings, payload: binary.BigEndian.AppendUint32([]byte{0, initialWindow}, 0)})
			w.send(frame{kind: frameHeaders, flags: flagEndHeaders | endStream, stream: 1,
				payload: fields(":method", "GET", ":scheme", "https", ":authority", "sluice", ":path", path, "authorization", basic)})
			w.await("end of the stream", func(f frame) bool { return f.kind == frameReset && f.stream == 1 })
		})
	}
}

// TestUnreadAnswersOfCalls: a large answer takes memory until its caller has read
// it, so callers who never read can't take all there is.
func TestUnreadAnswersOfCalls(t *testing.T) {
	t.Parallel()
	s := start(t, "max-body-memory=64MiB", untilDone)
	hook := s.create("webhook.unread")
	s.store("large", listening("webhook.unread", "set: {value: '#{repeat(\"x\", 4000000)}'}"))
	for name, more := range map[string]string{"in the lane": "", "by net/http": "X-Other: \xff\r\n"} {
		t.Run(name, func(t *testing.T) {
			w := s.dial(t)
			if err := w.Conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
				t.Fatal(err)
			}
			w.say("POST " + receivePath + " HTTP/1.1\r\nHost: sluice\r\n" + more + "Token: " + hook.UUID + "\r\nContent-Length: 2\r\n\r\nhi")
			if _, err := w.Read(make([]byte, 1)); err != nil { // the answer has begun
				t.Fatal(err)
			}
			status := func() any {
				return s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK).object(t)["status"]
			}
			if got := status(); got != "processing" {
				t.Errorf("while another answer is not read, the next one is %v", got)
			}
			_ = w.Close()
			eventually(t, "the memory comes back", func() bool { return status() == "ok" })
		})
	}
}

// TestSilentTailOverHTTP2: a stream that waits for its next event is not one that
// nobody reads.
func TestSilentTailOverHTTP2(t *testing.T) {
	t.Parallel()
	s, _ := startTLSFor(t, serve.Timeouts{Write: 2 * time.Second}) // enough for what is read, also if the machine is busy
	hook := s.create("webhook.silent")
	w := s.dialFrames(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+adminPassword))
	const endStream, frameData, framePing = 1, 0, 6
	w.send(frame{kind: frameHeaders, flags: flagEndHeaders | endStream, stream: 1,
		payload: fields(":method", "GET", ":scheme", "https", ":authority", "sluice", ":path", "/api/v3/events", "authorization", basic)})
	isData := func(f frame) bool {
		if f.kind == frameReset {
			t.Fatal("the stream has ended")
		}
		return f.kind == frameData && f.stream == 1
	}
	w.await("the first line", isData)
	s.send("POST", "/api/v3/pipeline", strings.NewReader("pipeline: [wait: {duration: 5s}]"), asAdmin).wantStatus(t, http.StatusOK)
	s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK)
	w.await("the call", isData)
}

// TestHalfClosedCallers: who has said everything may close its side, and gets the
// same answer on every path.
func TestHalfClosedCallers(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.half")
	s.store("half", listening("webhook.half", o.held(), "set: {value: done}"))
	var callers []*wire
	for _, more := range []string{"", "X-Other: \xff\r\n"} { // the second is not for the lane
		w := s.dial(t)
		w.say("POST " + receivePath + " HTTP/1.1\r\nHost: sluice\r\n" + more + "Token: " + hook.UUID + "\r\nContent-Length: 2\r\n\r\nhi")
		o.next()
		if err := w.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		callers = append(callers, w)
	}
	// The end has arrived when a poll has been answered behind it.
	s.send("GET", "/healthz", nil).wantStatus(t, http.StatusOK)
	close(o.release)
	for _, w := range callers {
		if got := w.hear(http.MethodPost).wantStatus(t, http.StatusOK).object(t); got["status"] != "ok" || got["value"] != "done" {
			t.Errorf("answered %v", got)
		}
	}
}
