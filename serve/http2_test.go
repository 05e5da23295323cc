package serve_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
)

// The frames of HTTP/2 that these tests send and read (RFC 9113, 6).
const (
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	frameGoAway       = 0x7
	frameContinuation = 0x9

	flagEndHeaders = 0x4

	maxConcurrentStreams = 0x3 // a setting
	refusedStream        = 0x7 // an error code
)

// A frameWire is a connection on which a test says each HTTP/2 frame itself.
type frameWire struct{ *wire }

// A frame is what an HTTP/2 connection carries.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

func (s *service) dialFrames(t *testing.T) frameWire {
	t.Helper()
	w := frameWire{newWire(t, s.dialTLS(t))}
	w.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	w.send(frame{kind: frameSettings})
	return w
}

// send writes a frame and tells whether the server still took it.
func (w frameWire) send(f frame) bool {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(f.payload))<<8|uint32(f.kind))
	head = binary.BigEndian.AppendUint32(append(head, f.flags), f.stream)
	_, err := w.Write(append(head, f.payload...))
	return err == nil
}

// next reads a frame.
func (w frameWire) next() (f frame, err error) {
	head := make([]byte, 9)
	if _, err := io.ReadFull(w.reader, head); err != nil {
		return f, err
	}
	f.payload = make([]byte, binary.BigEndian.Uint32(head)>>8)
	f.kind, f.flags, f.stream = head[3], head[4], binary.BigEndian.Uint32(head[5:])
	_, err = io.ReadFull(w.reader, f.payload)
	return f, err
}

// await reads frames until one is as wanted.
func (w frameWire) await(what string, wanted func(frame) bool) frame {
	w.t.Helper()
	for {
		f, err := w.next()
		if err != nil {
			w.t.Fatalf("no %s: %v", what, err)
		}
		if wanted(f) {
			return f
		}
	}
}

// openCall is the headers of a POST to a webhook whose body is still to come:
// the static table of HPACK has POST, https and the names of path and authority.
func openCall(stream uint32, token string) frame {
	block := []byte{0x83, 0x87}
	for _, field := range []struct {
		name  byte
		value string
	}{{0x04, receivePath + "?token=" + token}, {0x01, "sluice"}} {
		block = append(block, field.name, byte(len(field.value)))
		block = append(block, field.value...)
	}
	return frame{kind: frameHeaders, flags: flagEndHeaders, stream: stream, payload: block}
}

// TestHTTP2Streams: the server announces how many streams a connection may have,
// and refuses the first one beyond. So a client that opens and resets streams
// can't have more work done at a time than others.
func TestHTTP2Streams(t *testing.T) {
	t.Parallel()
	s, _ := startTLS(t)
	hook := s.create("webhook.streams")
	w := s.dialFrames(t)
	settings := w.await("settings", func(f frame) bool { return f.kind == frameSettings })
	announced := uint32(0)
	for p := settings.payload; len(p) >= 6; p = p[6:] {
		if binary.BigEndian.Uint16(p) == maxConcurrentStreams {
			announced = binary.BigEndian.Uint32(p[2:])
		}
	}
	if announced != 64 {
		t.Fatalf("the server announces %d streams, want 64", announced)
	}
	for i := range announced + 1 {
		w.send(openCall(2*i+1, hook.UUID))
	}
	reset := w.await("refused stream", func(f frame) bool { return f.kind == frameReset })
	if reset.stream != 2*announced+1 || binary.BigEndian.Uint32(reset.payload) != refusedStream {
		t.Errorf("stream %d was reset with code %x, want the last one, refused", reset.stream, reset.payload)
	}
}

// TestHTTP2RapidReset: a client that opens streams only to reset them either is
// cut off or gets nothing but the bounded work; the server goes on for others.
func TestHTTP2RapidReset(t *testing.T) {
	t.Parallel()
	s, _ := startTLS(t)
	hook := s.create("webhook.reset")
	w := s.dialFrames(t)
	go func() { _, _ = io.Copy(io.Discard, w.reader) }() // the server must be able to write
	for i := range uint32(5_000) {
		call := openCall(2*i+1, hook.UUID)
		if !w.send(call) || !w.send(frame{kind: frameReset, stream: call.stream, payload: []byte{0, 0, 0, 8}}) {
			break // cut off
		}
	}
	s.call(hook, "text/plain", "others").wantStatus(t, 200)
}

// TestHTTP2HeaderFlood: headers that go on for ever end the connection.
func TestHTTP2HeaderFlood(t *testing.T) {
	t.Parallel()
	s, _ := startTLS(t)
	hook := s.create("webhook.flood")
	w := s.dialFrames(t)
	field := append([]byte{0x00, 1, 'x', 0x7f, 0xfb, 0x7e}, bytes.Repeat([]byte("a"), 16378)...) // x: aaa…
	go func() {
		open := openCall(1, hook.UUID)
		open.flags = 0 // more to come
		for more := w.send(open); more; {
			more = w.send(frame{kind: frameContinuation, stream: 1, payload: field})
		}
	}()
	w.await("end of the connection", func(f frame) bool { return f.kind == frameGoAway })
	wantExactly(t, s.events(), nil)
}
