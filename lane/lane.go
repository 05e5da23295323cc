// Package lane answers the calls of one busy path without the costs of a general server. It
// reads plain calls only. When anything else arrives on a connection, it hands the connection
// to net/http, with all unanswered bytes. So net/http stays the only server that knows all of
// HTTP.
package lane

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"sluice/stretch"
)

// Options configure a lane.
type Options struct {
	Path    string // whose calls it answers
	Handler http.Handler

	HeaderTimeout time.Duration // for the first bytes on a connection
	IdleTimeout   time.Duration // between two calls

	Log *slog.Logger
}

// A Lane answers plain calls on the connections of a listener. For net/http it is a listener
// itself: it hands on the connections on which something else arrives.
//
// The handler gets the request that net/http would make, with two differences: the body is in
// memory already, and the context ends with the lane, not when the caller leaves.
type Lane struct {
	Options

	listener net.Listener
	blank    *http.Request      // what all requests have in common
	cut      context.CancelFunc // ends their context

	others chan handed   // for Accept
	large  chan struct{} // large buffers in use
	closed chan struct{} // by Close
	once   sync.Once     // closes it

	stopping atomic.Bool
	serving  sync.WaitGroup // the accepting, and every connection
	conns    sync.Map       // the keys are *conn
}

// handed is what Accept returns.
type handed struct {
	conn net.Conn
	err  error
}

// New starts to serve the connections of a listener.
func New(l net.Listener, opts Options) *Lane {
	ctx, cut := context.WithCancel(context.Background())
	lane := &Lane{
		Options:  opts,
		listener: l,
		blank:    blankRequest(ctx, opts.Path),
		cut:      cut,
		others:   make(chan handed),
		large:    make(chan struct{}, maxLarge),
		closed:   make(chan struct{}),
	}
	lane.serving.Go(lane.accept)
	return lane
}

// accept serves connections until the listener is closed. It passes errors on to Accept:
// net/http knows which are temporary.
func (l *Lane) accept() {
	for {
		accepted, err := l.listener.Accept()
		switch {
		case err == nil:
			c := newConn(l, accepted)
			l.conns.Store(c, true)
			l.serving.Go(c.serve)
		case errors.Is(err, net.ErrClosed) || !l.handOn(handed{err: err}):
			return
		}
	}
}

// handOn gives something to Accept, and reports whether Accept took it.
func (l *Lane) handOn(h handed) bool {
	select {
	case l.others <- h:
		return true
	case <-l.closed:
		return false
	}
}

// Accept implements net.Listener. After the underlying listener is closed, it still returns
// earlier connections.
func (l *Lane) Accept() (net.Conn, error) {
	select {
	case h := <-l.others:
		return h.conn, h.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Closing it again does nothing.
func (l *Lane) Close() error {
	l.once.Do(func() { close(l.closed) })
	if err := l.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Addr implements net.Listener.
func (l *Lane) Addr() net.Addr { return l.listener.Addr() }

// Shutdown closes idle connections, and the others once their calls are answered. New
// connections have a moment for their first call. When ctx ends first, it cuts all off and
// returns the error of ctx. The listener must be closed before.
func (l *Lane) Shutdown(ctx context.Context) error {
	defer l.cut()
	l.stopping.Store(true)
	l.each(func(c *conn) { c.closeIn(idle) })
	unused := time.AfterFunc(stretch.Of(lingering), func() { l.each(func(c *conn) { c.closeIn(fresh) }) })
	defer unused.Stop()
	served := make(chan struct{})
	go func() {
		l.serving.Wait()
		close(served)
	}()
	select {
	case <-served:
		return nil
	case <-ctx.Done():
		l.each(func(c *conn) { _ = c.Close() })
		return ctx.Err()
	}
}

func (l *Lane) each(do func(*conn)) {
	for c := range l.conns.Range {
		do(c.(*conn)) //nolint:forcetypeassert // there are no others
	}
}

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

// Heads returns a listener for a server without a lane: the lines of each head are counted all
// the same.
func Heads(l net.Listener) net.Listener { return heads{l} }

type heads struct{ net.Listener }

// Accept implements net.Listener.
func (h heads) Accept() (net.Conn, error) {
	accepted, err := h.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &begun{Conn: accepted}, nil
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
