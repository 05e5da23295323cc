package limit_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/limit"
)

// TestMemoryIsShared: what one holds others can't have, until it is released.
func TestMemoryIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limit.NewMemory(1<<20, nil)
		first, second, third := m.Hold(), m.Hold(), m.Hold()
		grow := func(h *limit.Hold, bytes int64) error { return h.Grow(t.Context(), bytes) }
		if err := grow(&first, 900<<10); err != nil {
			t.Fatal(err)
		}
		if err := grow(&second, 200<<10); err == nil || sluice.AsError(err).Kind != sluice.Unavailable {
			t.Errorf("more than there is: got %v", err)
		}
		if err := grow(&second, 16<<10); err != nil {
			t.Errorf("a small body is refused too: %v", err)
		}
		time.AfterFunc(time.Millisecond, first.Release)
		if err := grow(&second, 4<<20); err != nil {
			t.Errorf("the largest alone is refused: %v", err)
		}
		second.Release()
		second.Release()
		if err := grow(&third, 1<<20); err != nil {
			t.Errorf("what was released is not free again: %v", err)
		}
	})
}

// watched is a body that tells when so many bytes of it have arrived: memory for them
// is taken by then.
type watched struct {
	io.ReadCloser

	left    int
	arrived chan struct{}
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.left -= n; n > 0 && w.left == 0 {
		close(w.arrived)
	}
	return n, err
}

// TestSlowSendersGiveWay: where there is no memory for all, a body that trickles
// in ends for one that comes at once.
func TestSlowSendersGiveWay(t *testing.T) {
	all := bodies(limit.Pace{Idle: time.Minute, Total: time.Minute})
	const sent = 900 << 10
	arrived := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 { // the slow one
			r.Body = &watched{ReadCloser: r.Body, left: sent, arrived: arrived}
		}
		if _, err := read(w, r, all, nil, 4<<20); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	send := func(body io.Reader) chan int {
		answered := make(chan int, 1)
		go func() {
			response, err := http.Post(server.URL, "text/plain", body)
			if err != nil {
				answered <- 0
				return
			}
			response.Body.Close()
			answered <- response.StatusCode
		}()
		return answered
	}
	content, sender := io.Pipe()
	defer sender.Close()
	slow := send(content)
	if _, err := sender.Write(make([]byte, sent)); err != nil { // and then nothing more
		t.Fatal(err)
	}
	<-arrived
	if got := <-send(bytes.NewReader(make([]byte, 800<<10))); got != http.StatusOK {
		t.Errorf("the fast one is answered %d", got)
	}
	_ = sender.Close()
	if got := <-slow; got == http.StatusOK {
		t.Error("the slow one was read all the same")
	}
}

// TestBodiesGiveWayToOnesThatAreHere: what is made of a body needs memory too, and
// gets it before one that is still on its way.
func TestBodiesGiveWayToOnesThatAreHere(t *testing.T) {
	all := bodies(limit.Pace{Idle: time.Minute, Total: time.Minute})
	const sent = 900 << 10
	arrived, ended := make(chan struct{}), make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &watched{ReadCloser: r.Body, left: sent, arrived: arrived}
		_, err := read(w, r, all, nil, 4<<20)
		ended <- err
	}))
	defer server.Close()
	content, sender := io.Pipe()
	defer sender.Close()
	go func() {
		if response, err := http.Post(server.URL, "text/plain", content); err == nil {
			response.Body.Close()
		}
	}()
	if _, err := sender.Write(make([]byte, sent)); err != nil {
		t.Fatal(err)
	}
	<-arrived
	here := all.Known.Hold()
	defer here.Release()
	if err := all.Grow(t.Context(), &here, 900<<10); err != nil {
		t.Errorf("there is no memory: %v", err)
	}
	if err := <-ended; sluice.AsError(err).Kind != sluice.Unavailable {
		t.Errorf("the one on its way has ended with %v", err)
	}
}
