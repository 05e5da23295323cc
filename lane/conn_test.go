package lane

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/stretch"
)

// TestHandedOn: what has arrived goes along with the connection, in its buffer;
// and that is let go once it has been read.
func TestHandedOn(t *testing.T) {
	client, pipe := net.Pipe()
	_ = client.Close()
	c := newConn(&Lane{others: make(chan handed, 1), large: make(chan struct{}, 1)}, pipe)
	if !c.grow() {
		t.Fatal("there is no buffer")
	}
	c.data = append(c.data, "begun"...)
	c.handOn()
	if c.large != nil || len(c.lane.large) > 0 {
		t.Error("the buffer is still that of the lane")
	}
	conn := (<-c.lane.others).conn.(*begun)
	content := make([]byte, 3)
	for _, want := range []string{"beg", "un"} {
		if n, err := conn.Read(content); err != nil || string(content[:n]) != want {
			t.Errorf("it reads %q, %v, want %q", content[:n], err, want)
		}
	}
	if _, err := conn.Read(content); !errors.Is(err, io.EOF) || conn.data != nil {
		t.Errorf("then it gives %v, and keeps %d bytes", err, cap(conn.data))
	}
}

// TestClosedByHalves: net/http can end a connection in the same way.
func TestClosedByHalves(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := (&begun{Conn: conn}).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(client); err != nil || len(rest) > 0 {
		t.Errorf("the client reads %q, %v, want the end", rest, err)
	}
	if _, err := io.WriteString(client, "still here"); err != nil {
		t.Error(err)
	}
	pipe, _ := net.Pipe()
	if err := (&begun{Conn: pipe}).CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a connection without halves gives %v", err)
	}
}

// TestIdle: connections that nothing arrives on are closed, those in use are not.
func TestIdle(t *testing.T) {
	inBubble(t, func(t *testing.T, client net.Conn, _ *Lane) {
		wantClosed(t, client, headerTimeout)
	})
	for _, calls := range []int{1, 20} {
		inBubble(t, func(t *testing.T, client net.Conn, _ *Lane) {
			from := bufio.NewReader(client)
			for range calls {
				time.Sleep(idleTimeout / 2)
				if _, err := io.WriteString(client, post("1")); err != nil {
					t.Fatal(err)
				}
				if _, err := http.ReadResponse(from, nil); err != nil {
					t.Fatal(err)
				}
				if _, err := from.Discard(len("lane 1")); err != nil {
					t.Fatal(err)
				}
			}
			wantClosed(t, client, idleTimeout)
		})
	}
}

// TestTrickle: a call that arrives in small pieces is waited for as long as
// another one.
func TestTrickle(t *testing.T) {
	inBubble(t, func(t *testing.T, client net.Conn, lane *Lane) {
		began := time.Now()
		go func() {
			for piece := range strings.SplitSeq(post("12345"), "") {
				time.Sleep(stretch.Of(patience) / 20)
				if _, err := io.WriteString(client, piece); err != nil {
					return
				}
			}
		}()
		conn, err := lane.Accept()
		if took := time.Since(began) - stretch.Of(patience)/20; err != nil || took != stretch.Of(patience) {
			t.Errorf("it is handed on after %s, %v", took, err)
		}
		if content, err := io.ReadAll(io.LimitReader(conn, int64(len(post("12345"))))); err != nil || string(content) != post("12345") {
			t.Errorf("then there is %q, %v", content, err)
		}
		_ = conn.Close()
	})
}

const headerTimeout, idleTimeout = time.Minute, 10 * time.Second

// inBubble runs a test with a connection to a lane, where time passes at once.
func inBubble(t *testing.T, test func(*testing.T, net.Conn, *Lane)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		listener := &pipeListener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		listener.conns <- server
		lane := New(listener, Options{Path: path, Handler: http.HandlerFunc(tell), HeaderTimeout: headerTimeout, IdleTimeout: idleTimeout})
		test(t, client, lane)
		_ = client.Close()
		if err := errors.Join(lane.Close(), lane.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	})
}

// wantClosed wants a connection to be closed after a time without use, or a
// little before.
func wantClosed(t *testing.T, client net.Conn, after time.Duration) {
	t.Helper()
	began := time.Now()
	if rest, err := io.ReadAll(client); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v follows, want the end", rest, err)
	}
	if took := time.Since(began); took < after*7/8 || took > after {
		t.Errorf("it is closed after %s, want %s", took, after)
	}
}

// pipeListener returns connections within the process.
