package lane

import (
	"context"
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
	listener net.Listener
	opts     Options
	blank    *http.Request      // what all requests have in common
	cut      context.CancelFunc // ends their context

	others chan handed   // for Accept
	large  chan struct{} // large buffers in use
	closed chan struct{} // by Close
	once   sync.Once     // closes it

	stopping atomic.Bool
	serving  sync.WaitGroup // the accepting, and every connection
	mu       sync.Mutex
	conns    map[*conn]struct{}
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
		listener: l,
		opts:     opts,
		blank:    blankRequest(ctx, opts.Path),
		cut:      cut,
		others:   make(chan handed),
		large:    make(chan struct{}, maxLarge),
		closed:   make(chan struct{}),
		conns:    make(map[*conn]struct{}),
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
			l.mu.Lock()
			l.conns[c] = struct{}{}
			l.mu.Unlock()
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
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		do(c)
	}
}

func (l *Lane) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}
