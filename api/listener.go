package api

import (
	"errors"
	"net"
	"net/netip"
	"sync"
)

// LimitListener bounds the open connections of a listener: total stops it from
// accepting, perAddress closes further connections of the same client. The
// connections of trusted proxies carry many clients and count only in total.
func LimitListener(l net.Listener, total, perAddress int, trusted []netip.Prefix) net.Listener {
	return &limitListener{
		Listener:   l,
		places:     make(chan struct{}, total),
		perAddress: perAddress,
		trusted:    trusted,
		open:       make(map[netip.Addr]int),
		closed:     make(chan struct{}),
	}
}

type limitListener struct {
	net.Listener
	places     chan struct{}
	perAddress int
	trusted    []netip.Prefix

	mu   sync.Mutex
	open map[netip.Addr]int

	closeOnce sync.Once
	closed    chan struct{}
}

// Accept implements net.Listener.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		select {
		case l.places <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		conn, err := l.Listener.Accept()
		if err != nil {
			<-l.places
			return nil, err
		}
		client := l.enter(conn)
		if client == nil {
			<-l.places
			_ = conn.Close()
			continue
		}
		return client, nil
	}
}

// Close implements net.Listener. Closing it again does nothing.
func (l *limitListener) Close() (err error) {
	l.closeOnce.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

// enter counts a connection, or gives nil if its client has too many.
func (l *limitListener) enter(conn net.Conn) net.Conn {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	addr := peer.Addr().Unmap()
	if err != nil || contains(l.trusted, addr) {
		return &limitedConn{Conn: conn, leave: func() { <-l.places }}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[addr] >= l.perAddress {
		return nil
	}
	l.open[addr]++
	return &limitedConn{Conn: conn, leave: func() { l.leave(addr) }}
}

func (l *limitListener) leave(addr netip.Addr) {
	l.mu.Lock()
	if l.open[addr]--; l.open[addr] == 0 {
		delete(l.open, addr)
	}
	l.mu.Unlock()
	<-l.places
}

// limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.leave)
	return err
}

// CloseWrite lets net/http end a connection without cutting off its last answer,
// as it does with a plain TCP connection.
func (c *limitedConn) CloseWrite() error {
	if tcp, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return errors.ErrUnsupported
}
