package api

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"

	"sluice/limit"
)

// ProxyProtocol reads the header of the PROXY protocol, version 1 or 2, that
// connections from these proxies must begin with: their address is then the
// client's. Connections from elsewhere are as they are.
func ProxyProtocol(l net.Listener, proxies []netip.Prefix, timeout time.Duration) net.Listener {
	if len(proxies) == 0 {
		return l
	}
	return &proxyListener{&proxyproto.Listener{
		Listener:          l,
		ReadHeaderTimeout: timeout,
		ConnPolicy: func(o proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			peer, err := netip.ParseAddrPort(o.Upstream.String())
			if err == nil && limit.Contains(proxies, peer.Addr().Unmap()) {
				return proxyproto.REQUIRE, nil
			}
			return proxyproto.SKIP, nil
		},
	}}
}

type proxyListener struct{ *proxyproto.Listener }

// Accept implements net.Listener.
func (l *proxyListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if proxied, ok := conn.(*proxyproto.Conn); ok {
		return &proxiedConn{proxied}, err
	}
	return conn, err
}

type proxiedConn struct{ *proxyproto.Conn }

// CloseWrite lets net/http end a connection without cutting off its last answer,
// as it does with a plain TCP connection.
func (c *proxiedConn) CloseWrite() error {
	if tcp, ok := c.Raw().(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return errors.ErrUnsupported
}
