package limit

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// ConnectionOptions bound what clients may take of a listener.
type ConnectionOptions struct {
	Total      int            // connections at the same time; more are not accepted
	PerNetwork int            // connections of one client; more are closed
	Proxies    []netip.Prefix // carry many clients, so they count only in total

	// WriteTimeout is how long a client may take to read a chunk of an answer. Otherwise a
	// client that never reads would hold its answer in memory for ever.
	WriteTimeout time.Duration
}

// NewListener returns a listener whose connections are bounded.
func NewListener(l net.Listener, o ConnectionOptions) *Listener {
	all := &Listener{
		ConnectionOptions: o, slots: make(chan struct{}, o.Total), shares: NewShares[netip.Prefix](o.PerNetwork),
	}
	return all.Beside(l)
}

// Beside returns a listener at another address. The connections of both count together.
func (l *Listener) Beside(other net.Listener) *Listener {
	return &Listener{
		Listener: other, ConnectionOptions: l.ConnectionOptions, slots: l.slots, shares: l.shares,
		closed: make(chan struct{}),
	}
}

// A Listener bounds its connections.
type Listener struct {
	net.Listener
	ConnectionOptions
	slots  chan struct{}
	shares *Shares[netip.Prefix]
	open   atomic.Int64

	closeOnce sync.Once
	closed    chan struct{}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		select {
		case l.slots <- struct{}{}:
			l.open.Add(1)
		case <-l.closed:
			return nil, net.ErrClosed
		}
		accepted, err := l.Listener.Accept()
		if err != nil {
			l.leave()
			return nil, err
		}
		if client := l.enter(accepted); client != nil {
			return client, nil
		}
		l.leave()
		_ = accepted.Close()
	}
}

// Close implements net.Listener. Closing it again does nothing.
func (l *Listener) Close() (err error) {
	l.closeOnce.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

// Open reports how many connections are open, with the one that Accept waits for.
func (l *Listener) Open() int { return int(l.open.Load()) }

// leave frees the slot of a connection.
func (l *Listener) leave() {
	l.open.Add(-1)
	<-l.slots
}

// enter counts a connection, or returns nil if its client has too many.
func (l *Listener) enter(accepted net.Conn) net.Conn {
	c := &conn{Conn: accepted, writeTimeout: l.WriteTimeout, leave: l.leave}
	peer, err := netip.ParseAddrPort(accepted.RemoteAddr().String())
	if err != nil || Contains(l.Proxies, peer.Addr().Unmap()) {
		return c
	}
	network := networkOf(peer.Addr(), 32)
	if !l.shares.Enter(network) {
		return nil
	}
	c.leave = func() {
		l.shares.Leave(network)
		l.leave()
	}
	return c
}

// conn is a connection of a client. Closing it frees its slot.
type conn struct {
	net.Conn
	once  sync.Once
	leave func()

	writeTimeout time.Duration
	deadline     atomic.Int64 // the socket's write deadline in Unix nanoseconds
}

// chunk is how many bytes of an answer a client must read within WriteTimeout.
const chunk = 64 << 10

// Write implements net.Conn. The deadline moves while bytes flow. Moving it has a cost, so it
// does not move for every chunk.
func (c *conn) Write(b []byte) (written int, err error) {
	for {
		if now := time.Now(); c.deadline.Load()-now.UnixNano() < int64(c.writeTimeout/2) {
			if err := c.SetWriteDeadline(now.Add(c.writeTimeout)); err != nil {
				return written, err
			}
		}
		n, err := c.Conn.Write(b[:min(len(b), chunk)])
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// SetWriteDeadline implements net.Conn. Write moves a handler's deadline as well, once it is
// near.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.deadline.Store(t.UnixNano())
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.leave)
	return err
}

// CloseWrite lets net/http end a connection without cutting off its last answer, as with a
// plain TCP connection.
func (c *conn) CloseWrite() error {
	if tcp, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Streams bounds the streams of HTTP/2: connections are counted elsewhere, but each may have
// many streams.
type Streams struct {
	places  *Places // by network
	timeout time.Duration
}

// NewStreams returns bounds on the streams of all clients and of one network. The timeout is
// how long a client may take to read a chunk of an answer.
func NewStreams(total, perNetwork int, timeout time.Duration) *Streams {
	return &Streams{NewPlaces(perNetwork, total), timeout}
}

// Serve serves the request on a stream, or refuses it with 503. The refusal has no body: a
// client that reads nothing could hold one in memory.
//
// Answers have a deadline that moves while bytes flow, since the deadlines of the connection
// don't cover streams. All of an answer is written before the stream gives its slot back.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	leave, err := s.places.Enter(Network(r.RemoteAddr))
	if err != nil {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer leave()
	a := &stream{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.timeout}
	a.end() // net/http has set one
	next(a, r)
	if a.unsent {
		_ = a.FlushError() // the caller has gone
	}
}

// stream is the answer on a stream. It has a deadline only during writes: a deadline would
// end a stream that waits for its next event.
type stream struct {
	http.ResponseWriter

	control *http.ResponseController
	timeout time.Duration
	unsent  bool // net/http may hold bytes of it
}

// begin and end change nothing once the stream has ended.
func (s *stream) begin() { _ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) }
func (s *stream) end()   { _ = s.control.SetWriteDeadline(time.Time{}) }

// Write implements http.ResponseWriter.
func (s *stream) Write(b []byte) (written int, err error) {
	defer s.end()
	s.unsent = true
	for {
		s.begin()
		n, err := s.ResponseWriter.Write(b[:min(len(b), chunk)])
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// FlushError is for http.ResponseController.
func (s *stream) FlushError() error {
	defer s.end()
	s.unsent = false
	s.begin()
	return s.control.Flush()
}

// Unwrap is for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }
