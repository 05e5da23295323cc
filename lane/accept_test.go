package lane

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"
)

// A crowdedListener has no file for the first connections.
type crowdedListener struct {
	net.Listener

	refusals int
}

func (l *crowdedListener) Accept() (net.Conn, error) {
	if l.refusals > 0 {
		l.refusals--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// TestNoFileForAConnection: when no more files can be open, accepting is tried again.
func TestNoFileForAConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := New(&crowdedListener{listener, 3}, Options{Path: path, Handler: http.HandlerFunc(tell), HeaderTimeout: time.Minute, IdleTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	others := &http.Server{Handler: http.HandlerFunc(tell)}
	served := make(chan error, 1)
	go func() { served <- others.Serve(l) }()
	c := (&server{lane: l}).dial(t)
	c.send(post("1"))
	c.wantAnswer("lane 1")
	if err := others.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
