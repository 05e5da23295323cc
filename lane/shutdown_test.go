package lane

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"sluice/stretch"
)

// TestShutdown: idle connections are closed at once, unused ones after a moment, others when
// their calls are answered.
func TestShutdown(t *testing.T) {
	defer stretch.By(1)()
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			close(begun)
			<-goOn
		}
		tell(w, r)
	})
	unused, idle, busy := s.dial(t), s.dial(t), s.dial(t)
	idle.send(post("1"))
	idle.wantAnswer("lane 1")
	busy.send(strings.Replace(post("2"), "/hook", "/hook?wait", 1))
	<-begun
	if err := s.lane.listener.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.lane.Shutdown(t.Context()) }()
	idle.wantEnd()
	unused.wantEnd()
	select {
	case err := <-done:
		t.Fatalf("it is down before the call is answered: %v", err)
	default:
	}
	close(goOn)
	response, content := busy.answer()
	if content != "lane 2" || !response.Close {
		t.Errorf("answered %q, and the connection ends: %t", content, response.Close)
	}
	busy.wantEnd()
	_ = busy.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestShutdownBetweenCalls: a call that has arrived behind another one is not cut
// off, and the first call on a new connection is answered.
func TestShutdownBetweenCalls(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-goOn
		tell(w, r)
	})
	c := s.dial(t)
	c.send(post("1") + post("2"))
	<-begun
	goOn <- struct{}{}
	<-begun
	last := s.dial(t)
	for accepted := 0; accepted < 2; runtime.Gosched() {
		accepted = 0
		s.lane.each(func(*conn) { accepted++ })
	}
	if err := s.lane.listener.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.lane.Shutdown(t.Context()) }()
	last.send(post("3"))
	<-begun
	goOn <- struct{}{}
	goOn <- struct{}{}
	last.wantAnswer("lane 3")
	last.wantEnd()
	_ = last.Close()
	c.wantAnswer("lane 1")
	c.wantAnswer("lane 2")
	c.wantEnd()
	_ = c.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestNobodyToHandOnTo: then the connection is closed.
func TestNobodyToHandOnTo(t *testing.T) {
	s := start(t, tell)
	c := s.dial(t)
	c.send(post("1"))
	c.wantAnswer("lane 1")
	if err := errors.Join(s.lane.Close(), s.lane.Close()); err != nil {
		t.Fatal(err)
	}
	c.send("other")
	c.wantEnd()
}

// TestShutdownCutsOff: calls that don't end in time are cut off.
func TestShutdownCutsOff(t *testing.T) {
	begun := make(chan struct{})
	s := start(t, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})
	c := s.dial(t)
	c.send(post("1"))
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.lane.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown gives %v", err)
	}
	if _, err := c.from.ReadByte(); err == nil {
		t.Error("the call was answered")
	}
}

// TestAfterTheListener: while a server stops, connections from before can still
// be handed on.
func TestAfterTheListener(t *testing.T) {
	s := start(t, tell)
	c := s.dial(t)
	c.send(post("1"))
	c.wantAnswer("lane 1")
	if err := s.lane.listener.Close(); err != nil {
		t.Fatal(err)
	}
	c.send("POST /hook HTTP/1.1\r\nHost: h\r\nPragma: p\r\nContent-Length: 1\r\n\r\n2")
	c.wantAnswer("net/http 2")
}
