package lane

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// smallBuffer is what a connection reads into.
	smallBuffer = 4 << 10
	// largeBuffer is what it reads longer calls into. Still longer ones are
	// handed on.
	largeBuffer = 64 << 10
	// patience is how long the rest of a call may take to arrive. What takes
	// longer is handed on: net/http bounds it in other ways.
	patience = 100 * time.Millisecond
	// linger is how long a connection is read from after its last answer.
	linger = 500 * time.Millisecond
)

// States of a connection. Between calls it is closed by whoever changes its
// state first.
const (
	idle int32 = iota
	busy
	closed
)

// conn is a connection of a client.
type conn struct {
	net.Conn

	lane     *Lane
	remote   string
	state    atomic.Int32
	deadline time.Time // for reading, as the socket knows it

	small [smallBuffer]byte
	large *[largeBuffer]byte // nil: not needed
	data  []byte             // that has arrived and is not answered, in one of both
}

var largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}

func newConn(l *Lane, c net.Conn) *conn {
	client := &conn{Conn: c, lane: l, remote: c.RemoteAddr().String()}
	client.data = client.small[:0]
	return client
}

// serve answers calls until the connection ends or something else arrives on
// it.
func (c *conn) serve() {
	defer c.lane.forget(c)
	defer c.recover()
	defer c.release()
	for timeout := c.lane.opts.HeaderTimeout; c.await(timeout); timeout = c.lane.opts.IdleTimeout {
		r, size := c.call()
		if r == nil {
			c.handOn()
			return
		}
		if !c.answer(r) {
			c.end()
			return
		}
		c.forward(size)
	}
	_ = c.Close()
}

// recover closes the connection of a call that panics.
func (c *conn) recover() {
	v := recover()
	if v == nil {
		return
	}
	_ = c.Close()
	if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		c.lane.opts.Log.Error("A call made the server panic.", "panic", v, "stack", string(debug.Stack()))
	}
}

// await waits until there is something of the next call. It tells whether there
// will be one.
func (c *conn) await(timeout time.Duration) bool {
	if len(c.data) > 0 {
		return true
	}
	c.state.Store(idle)
	if c.lane.stopping.Load() {
		return false
	}
	// Moving the deadline costs a little, so not for every call.
	now := time.Now()
	if left := c.deadline.Sub(now); left < timeout*7/8 || left > timeout {
		c.setDeadline(now.Add(timeout))
	}
	n, err := c.Read(c.small[:])
	if err != nil || !c.state.CompareAndSwap(idle, busy) {
		return false
	}
	c.data = c.small[:n]
	return true
}

// call gives the call that has begun and its length, or nil if it is none for
// the lane.
func (c *conn) call() (*http.Request, int) {
	for waits := false; ; waits = true {
		r, size, found := read(c.data, c.lane.blank)
		switch {
		case found == whole:
			r.RemoteAddr = c.remote
			return r, size
		case found == other || !c.makeRoom():
			return nil, 0
		}
		if !waits {
			c.setDeadline(time.Now().Add(patience))
		}
		n, err := c.Read(c.data[len(c.data):cap(c.data)])
		if err != nil {
			return nil, 0 // whoever it is handed to will find out
		}
		c.data = c.data[:len(c.data)+n]
	}
}

// makeRoom tells whether there is room for the rest of a call, after making some.
func (c *conn) makeRoom() bool {
	switch {
	case len(c.data) < cap(c.data):
		return true
	case c.large != nil:
		return false
	}
	c.large = largeBuffers.Get().(*[largeBuffer]byte)
	c.data = append(c.large[:0], c.data...)
	return true
}

// answer lets the handler answer a call, and tells whether another may follow.
func (c *conn) answer(r *http.Request) bool {
	w := answers.Get().(*answer)
	defer answers.Put(w)
	w.begin()
	c.lane.opts.Handler.ServeHTTP(w, r)
	if c.lane.stopping.Load() {
		w.header.Set("Connection", "close")
	}
	_, err := c.Write(w.finish())
	return err == nil && w.header["Connection"] == nil
}

// forward leaves a call behind that was answered. What has arrived behind it is
// the next.
func (c *conn) forward(size int) {
	next := c.data[size:]
	if c.large == nil {
		c.data = c.small[:copy(c.small[:], next)]
		return
	}
	c.data = c.large[:copy(c.large[:], next)]
	if len(next) <= smallBuffer {
		c.release()
	}
}

// release gives a large buffer back.
func (c *conn) release() {
	if c.large == nil {
		return
	}
	c.data = c.small[:copy(c.small[:], c.data)]
	largeBuffers.Put(c.large)
	c.large = nil
}

// handOn hands the connection to net/http, with all that has arrived.
func (c *conn) handOn() {
	c.setDeadline(time.Time{})
	if !c.lane.handOn(handed{conn: &begun{Conn: c.Conn, data: bytes.Clone(c.data)}}) {
		_ = c.Close()
	}
}

// end closes the connection behind its last answer. What the client still sends
// is read for a moment: a connection that is closed with something unread is cut
// off, and the answer with it.
func (c *conn) end() {
	if closeWrite(c.Conn) == nil {
		c.setDeadline(time.Now().Add(linger))
		_, _ = io.CopyN(io.Discard, c, largeBuffer) // ends in any case
	}
	_ = c.Close()
}

// closeIdle closes the connection if no call has begun.
func (c *conn) closeIdle() {
	if c.state.CompareAndSwap(idle, closed) {
		_ = c.Close()
	}
}

func (c *conn) setDeadline(t time.Time) {
	c.deadline = t
	_ = c.SetReadDeadline(t) // fails on a closed connection, as the read will
}

// begun is a connection of which something was read.
type begun struct {
	net.Conn

	data []byte
}

// Read implements net.Conn.
func (b *begun) Read(p []byte) (int, error) {
	if len(b.data) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

// CloseWrite lets net/http end a connection without cutting off its last answer,
// as it does with a plain TCP connection.
func (b *begun) CloseWrite() error { return closeWrite(b.Conn) }

func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
