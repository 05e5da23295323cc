package lane

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"sluice/stretch"
)

const (
	smallBuffer = 4 << 10                // of every connection
	largeBuffer = 64 << 10               // for longer calls; still longer ones are handed on
	maxLarge    = 512                    // large buffers; without one, a call is handed on
	patience    = 100 * time.Millisecond // for the rest of a call; slower ones are handed on
	// Of reading after the last answer, and before the first call once the lane is shut down.
	lingering = 500 * time.Millisecond
)

// States of a connection. A call and a shutdown compete for a connection without a call: the
// first to change its state wins.
const (
	fresh int32 = iota // there was no call yet, and TLS may still begin
	idle
	busy
	closed
)

// conn is a connection of a client.
type conn struct {
	net.Conn

	lane     *Lane
	remote   string
	secure   *tls.ConnectionState // nil: plain
	state    atomic.Int32
	deadline time.Time // the socket's read deadline
	ends     int       // bytes of empty lines that may follow the last call
	handed   bool      // net/http has it now

	small [smallBuffer]byte
	large *[largeBuffer]byte // nil: not needed
	data  []byte             // unanswered bytes, in small or large
}

var largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}

func newConn(l *Lane, c net.Conn) *conn {
	client := &conn{Conn: c, lane: l}
	client.data = client.small[:0]
	return client
}

// serve answers calls until the connection ends or something else arrives.
func (c *conn) serve() {
	defer c.leave()
	defer c.recover()
	c.remote = c.RemoteAddr().String() // this may read from the connection
	if !c.shakeHands() {
		return
	}
	for timeout := c.lane.HeaderTimeout; c.await(timeout); timeout = c.lane.IdleTimeout {
		r, size := c.call()
		if r == nil {
			c.handOn()
			return
		}
		if !c.answer(r) {
			c.linger()
			return
		}
		c.forward(size)
		if c.ends = 0; r.Method == http.MethodPost {
			c.ends = 2 * len(endOfLine)
		}
		if len(c.data) > 0 {
			runtime.Gosched() // who sends many calls at once does not take the turns of others
		}
	}
}

// shakeHands begins TLS where the listener has it. HTTP/2, and a failed handshake, are for
// net/http: then it returns false.
func (c *conn) shakeHands() bool {
	encrypted, ok := c.Conn.(*tls.Conn)
	if !ok {
		return true
	}
	c.setDeadline(time.Now().Add(c.lane.HeaderTimeout))
	err := encrypted.HandshakeContext(context.Background()) // the deadline ends it
	state := encrypted.ConnectionState()
	if err != nil || state.NegotiatedProtocol == "h2" {
		c.setDeadline(time.Time{})
		c.handed = c.lane.handOn(handed{conn: encrypted})
		return false
	}
	c.secure = &state
	return true
}

func (c *conn) leave() {
	c.release()
	if !c.handed {
		_ = c.Close()
	}
	c.lane.conns.Delete(c)
}

// recover makes a panic end only its connection.
func (c *conn) recover() {
	v := recover()
	if err, ok := v.(error); v == nil || ok && errors.Is(err, http.ErrAbortHandler) {
		return
	}
	c.lane.Log.Error("A call made the server panic.", "panic", v, "stack", string(debug.Stack()))
}

// await waits for the next call, and reports whether bytes of it have arrived.
func (c *conn) await(timeout time.Duration) bool {
	for c.skipEnds(); len(c.data) == 0; c.skipEnds() {
		state := c.state.Load()
		if state == busy {
			state = idle
			c.state.Store(idle)
			if c.lane.stopping.Load() {
				return false
			}
		}
		// Moving the deadline has a cost, so not for every call.
		now := time.Now()
		if left := c.deadline.Sub(now); left < timeout*7/8 || left > timeout {
			c.setDeadline(now.Add(timeout))
		}
		n, _ := c.Read(c.small[:])
		c.data = c.small[:n]
		if n == 0 || !c.state.CompareAndSwap(state, busy) {
			return false
		}
	}
	return true
}

// skipEnds skips empty lines after a body, as net/http does: some clients send them.
func (c *conn) skipEnds() {
	for c.ends > 0 && len(c.data) > 0 {
		if c.data[0] != '\r' && c.data[0] != '\n' {
			c.ends = 0
			return
		}
		c.ends--
		c.data = c.data[1:]
	}
}

// call returns the current call and its length, or nil if it is not plain.
func (c *conn) call() (*http.Request, int) {
	for waits := false; ; waits = true {
		r, size, kind := read(c.data, c.lane.blank)
		switch kind {
		case whole:
			r.RemoteAddr, r.TLS = c.remote, c.secure
			return r, size
		case other:
			return nil, 0
		}
		if !waits {
			c.setDeadline(time.Now().Add(stretch.Of(patience)))
		}
		if !c.read(max(size, len(c.data)+1)) {
			return nil, 0 // net/http will find out why
		}
	}
}

// read reads until so many bytes have arrived, and reports whether they have.
func (c *conn) read(size int) bool {
	for len(c.data) < size {
		if len(c.data) == cap(c.data) && !c.grow() {
			return false
		}
		n, _ := c.Read(c.data[len(c.data):cap(c.data)])
		if n == 0 {
			return false
		}
		c.data = c.data[:len(c.data)+n]
	}
	return true
}

// grow switches to a large buffer, if one is free.
func (c *conn) grow() bool {
	if c.large != nil {
		return false
	}
	select {
	case c.lane.large <- struct{}{}:
	default:
		return false
	}
	c.large = largeBuffers.Get().(*[largeBuffer]byte)
	c.data = append(c.large[:0], c.data...)
	return true
}

// release gives a large buffer back.
func (c *conn) release() {
	if c.large != nil {
		largeBuffers.Put(c.large)
		c.large = nil
		<-c.lane.large
	}
}

// answer lets the handler answer a call, and reports whether another may follow.
func (c *conn) answer(r *http.Request) bool {
	w := newAnswer(c)
	defer w.release()
	c.lane.Handler.ServeHTTP(w, r)
	return w.FlushError() == nil && w.header.Get("Connection") != "close"
}

func (c *conn) send(w *answer) error {
	if c.lane.stopping.Load() {
		w.header.Set("Connection", "close")
	}
	text, body := w.finish(time.Now())
	if _, err := c.Write(text); err != nil || body == nil {
		return err
	}
	_, err := c.Write(body)
	return err
}

// forward drops the answered call from the data.
func (c *conn) forward(size int) {
	next := c.data[size:]
	if len(next) > smallBuffer {
		c.data = c.large[:copy(c.large[:], next)]
		return
	}
	c.data = c.small[:copy(c.small[:], next)]
	c.release()
}

// handOn hands the connection to net/http, with the buffer of what has arrived.
func (c *conn) handOn() {
	if c.large != nil {
		c.large = nil
		<-c.lane.large
	}
	c.setDeadline(time.Time{})
	next := &begun{Conn: c.Conn, data: c.data}
	if c.secure != nil {
		c.handed = c.lane.handOn(handed{conn: &begunTLS{next, c.secure}})
		return
	}
	c.handed = c.lane.handOn(handed{conn: next})
}

// linger ends a connection after its last answer. It reads on for a moment: closing a
// connection with unread bytes would cut off the answer.
func (c *conn) linger() {
	if closeWrite(c.Conn) == nil {
		c.setDeadline(time.Now().Add(stretch.Of(lingering)))
		_, _ = io.CopyN(io.Discard, c, largeBuffer) // ends in any case
	}
}

// closeIn closes a connection that is still in that state.
func (c *conn) closeIn(state int32) {
	if c.state.CompareAndSwap(state, closed) {
		_ = c.Close()
	}
}

func (c *conn) setDeadline(t time.Time) {
	c.deadline = t
	_ = c.SetReadDeadline(t) // fails on a closed connection, as the read will
}
