package stream

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/stretch"
)

const (
	// leaderEvery is how often a shortcut looks who leads its stream.
	leaderEvery = 2 * time.Second
	// noWay is the pause after a leader could not be reached.
	noWay = time.Minute
)

// A shortcut is a connection to the server that leads a stream. Whatever another
// server gets for the stream it has to pass on, and the answer comes back the same
// way. Without a shortcut everything works as well, by the node's own connection:
// so it is given up at the first sign of trouble.
type shortcut struct {
	host   *Host
	stream string
	direct atomic.Pointer[direct] // nil: there is none
}

// direct is a connection to one server.
type direct struct {
	*nats.Conn

	link   *Link
	server string
}

func newShortcut(h *Host, stream string) *shortcut { return &shortcut{host: h, stream: stream} }

// conn returns the shortest way to the leader that is known.
func (s *shortcut) conn() *nats.Conn {
	if d := s.direct.Load(); d != nil && d.link.connected() {
		return d.Conn
	}
	return s.host.Conn
}

// leave gives a shortcut up that does not answer. What the server has not read must
// not reach it later.
func (s *shortcut) leave(conn *nats.Conn) {
	if d := s.direct.Load(); d != nil && d.Conn == conn && s.direct.CompareAndSwap(d, nil) {
		d.link.Cut()
		d.Close()
	}
}

// follow leads to the server that leads the stream, until ctx ends.
func (s *shortcut) follow(ctx context.Context) {
	for wait := jitter(leaderEvery); ; {
		select {
		case <-ctx.Done():
			if d := s.direct.Swap(nil); d != nil {
				d.link.Release()
				d.Close()
			}
			return
		case <-time.After(wait):
		}
		wait = leaderEvery
		if leader := s.leader(ctx); leader != "" && !s.lead(leader) {
			wait = noWay
		}
	}
}

// leader returns the name of the server that leads the stream, "" if nobody says.
func (s *shortcut) leader(ctx context.Context) string {
	if s.host.Connected() != nil {
		return ""
	}
	stream, err := s.host.JS.Stream(ctx, s.stream)
	if err != nil || stream.CachedInfo().Cluster == nil {
		return ""
	}
	return stream.CachedInfo().Cluster.Leader
}

// lead lets the shortcut lead to a server. It is not ok if that can't be reached.
func (s *shortcut) lead(server string) (ok bool) {
	before := s.direct.Load()
	if before != nil && before.server == server && before.link.connected() {
		return true
	}
	var now *direct
	if s.host.Conn.ConnectedServerName() != server {
		if now = s.host.dial(server); now == nil {
			return false
		}
	}
	s.direct.Store(now)
	if before != nil { // what is on its way there is answered first
		time.AfterFunc(stretch.Of(clusterTimeout), func() { before.Close() })
	}
	return true
}

// dial connects to the server of a name, nil if it can't be reached: which address
// it has is found out by trying those that are known.
func (h *Host) dial(server string) *direct {
	for _, url := range h.Conn.Servers() {
		link := NewLink(slog.New(slog.DiscardHandler)) // its end is no news
		conn, err := h.Dial(url, link, nats.NoReconnect(), nats.RetryOnFailedConnect(false), nats.IgnoreDiscoveredServers())
		if err != nil {
			continue
		}
		if conn.ConnectedServerName() == server {
			link.Connected()
			return &direct{conn, link, server}
		}
		conn.Close()
	}
	return nil
}
