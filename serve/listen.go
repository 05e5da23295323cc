package serve

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"

	"sluice/api"
	"sluice/limit"
)

// listen opens the socket, unless this process was given one.
func (s *Server) listen(ctx context.Context) (err error) {
	switch {
	case s.Listen != nil:
		s.socket, err = s.Listen()
	case len(s.cfg.Domain) > 0:
		s.socket, err = listenOn(ctx, cmp.Or(s.Doors.HTTPS, ":443"), doorAdvice)
	default:
		s.socket, err = listenOn(ctx, s.cfg.Listen, listenAdvice)
	}
	if err != nil {
		return err
	}
	s.connections = s.bounded(s.socket)
	s.listener = api.ProxyProtocol(s.connections, s.cfg.ProxyProtocol, s.Timeouts.Header)
	s.baseURL = cmp.Or(s.publicURL(), ownURL(s.cfg, s.listener.Addr()))
	return nil
}

// What operators can do about an address that a server can't listen on.
const (
	listenAdvice = "; --listen chooses another address"
	doorAdvice   = ", which --domain needs; the port must be free, and under 1024 it needs the capability " +
		"CAP_NET_BIND_SERVICE"
)

func listenOn(ctx context.Context, address, advice string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("can't listen on %s%s: %w", address, advice, err)
	}
	return listener, nil
}

// bounded returns a listener whose connections are bounded.
func (s *Server) bounded(socket net.Listener) *limit.Listener {
	return limit.NewListener(socket, limit.ConnectionOptions{
		Total:        s.cfg.MaxConnections,
		PerNetwork:   s.cfg.MaxConnectionsPerAddress,
		Proxies:      slices.Concat(s.cfg.TrustedProxies, s.cfg.ProxyProtocol),
		WriteTimeout: s.Timeouts.Write,
	})
}
