package lane

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
)

const (
	maxFields = 100     // lines of headers that the lane reads; the API refuses more with a reason
	maxLines  = 200     // of a head: no more reach net/http, where each takes memory at once
	maxFill   = 1 << 10 // bytes for the buffer of net/http: those of the next head are not counted
	buffered  = 4 << 10 // the size of that buffer
)

// begun is a connection with bytes that were read already. It counts the lines of each head
// that net/http reads, which bounds only their bytes.
type begun struct {
	net.Conn

	data []byte

	inBody atomic.Bool // net/http has the head of a request, and has not answered it
	lines  int         // of the head so far
	filled bool        // its current line is not empty
}

// Read implements net.Conn. To net/http, a head with too many lines goes on without an end:
// then it answers 431, as it does with any head that is too long.
func (b *begun) Read(p []byte) (n int, err error) {
	if b.lines > maxLines && !b.inBody.Load() {
		for i := range p {
			p[i] = 'x'
		}
		return len(p), nil
	}
	if len(p) <= buffered {
		p = p[:min(len(p), maxFill)]
	}
	if len(b.data) > 0 {
		n = copy(p, b.data)
		b.data = b.data[n:]
	} else {
		b.data = nil // the connection may stay for long
		n, err = b.Conn.Read(p)
	}
	if !b.inBody.Load() {
		b.count(p[:n])
	}
	return n, err
}

// count counts lines up to the end of the head. Empty lines before it are not part of it.
func (b *begun) count(read []byte) {
	for _, c := range read {
		switch {
		case c != '\n' && c != '\r':
			b.filled = true
		case c == '\n' && b.filled:
			b.lines++
			b.filled = false
		case c == '\n' && b.lines > 0:
			b.inBody.Store(true)
			return
		}
	}
}

// ConnState is for the http.Server that gets the connections of a lane. Without it, only the
// first head on each is counted.
func ConnState(c net.Conn, state http.ConnState) {
	b, ok := c.(interface{ follow(state http.ConnState) })
	if ok {
		b.follow(state)
	}
}

// follow learns what net/http reads next.
func (b *begun) follow(state http.ConnState) {
	switch state {
	case http.StateActive:
		b.inBody.Store(true)
	case http.StateIdle:
		b.lines, b.filled = 0, false
		b.inBody.Store(false)
	}
}

// begunTLS tells net/http about TLS.
type begunTLS struct {
	*begun

	state *tls.ConnectionState
}

// ConnectionState is the way to Request.TLS.
func (b *begunTLS) ConnectionState() tls.ConnectionState { return *b.state }

// CloseWrite lets net/http end a connection without cutting off its last answer, as with a
// plain TCP connection.
func (b *begun) CloseWrite() error { return closeWrite(b.Conn) }

func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
