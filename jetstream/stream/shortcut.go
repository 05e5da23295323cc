package stream

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/stretch"
	"sluice/wait"
)

const (
	// leaderEvery is how often a shortcut asks who leads its stream.
	leaderEvery = 2 * time.Second
	// noWay is the pause after a server could not be reached.
	noWay = time.Minute
)

// A shortcut is a connection to the server that leads a stream. Any other server has to
// pass messages on to the leader, and the reply back. Everything also works without a
// shortcut, over the node's own connection, so it is given up at the first sign of trouble.
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

// conn returns the shortest known way to the leader.
func (s *shortcut) conn() *nats.Conn {
	if d := s.direct.Load(); d != nil && d.link.connected() {
		return d.Conn
	}
	return s.host.Conn
}

// leave gives up a shortcut that does not reply. What the server has not read yet must not
// reach it later.
func (s *shortcut) leave(conn *nats.Conn) {
	if d := s.direct.Load(); d != nil && d.Conn == conn && s.direct.CompareAndSwap(d, nil) {
		d.link.Cut()
		d.Close()
	}
}

// follow keeps the shortcut to the current leader of the stream, until ctx ends.
func (s *shortcut) follow(ctx context.Context) {
	for pause := leaderEvery/2 + rand.N(leaderEvery); ; { // not all nodes ask at once
		if wait.For(ctx, pause) != nil {
			if d := s.direct.Swap(nil); d != nil {
				d.link.Release()
				d.Close()
			}
			return
		}
		pause = leaderEvery
		if leader := s.leader(ctx); leader != "" && !s.connect(leader) {
			pause = noWay
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

// connect makes the shortcut lead to a server. It is not ok if the server can't be reached.
func (s *shortcut) connect(server string) (ok bool) {
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
	if before != nil { // let what is on its way there be answered
		time.AfterFunc(stretch.Of(clusterTimeout), func() { before.Close() })
	}
	return true
}

// near has connections for deliveries, one for each server of an external engine that
// leads consumers. Messages from there need not be passed on by another server.
type near struct {
	mu      sync.Mutex
	servers map[string]*direct
	failed  map[string]time.Time // servers that could not be reached
}

// Near returns a connection to the server of a name. It is the node's own one if that is
// connected to this server, or if there is no better one. It does not reconnect by itself.
func (h *Host) Near(server string) *nats.Conn {
	if server == "" || h.Dial == nil || h.Conn.ConnectedServerName() == server {
		return h.Conn
	}
	n := &h.near
	n.mu.Lock()
	defer n.mu.Unlock()
	if d := n.servers[server]; d != nil && d.link.connected() {
		return d.Conn
	}
	if time.Since(n.failed[server]) < noWay {
		return h.Conn
	}
	d := h.dial(server)
	if d == nil {
		n.failed[server] = time.Now()
		return h.Conn
	}
	n.servers[server] = d
	return d.Conn
}

// leaveNear ends these connections.
func (h *Host) leaveNear() {
	h.near.mu.Lock()
	defer h.near.mu.Unlock()
	for _, d := range h.near.servers {
		d.link.Release()
		d.Close()
	}
	clear(h.near.servers)
}

// dial connects to the server of a name, nil if it can't be reached. The addresses of
// servers don't tell their names, so it tries all that are known.
func (h *Host) dial(server string) *direct {
	for _, url := range h.Conn.Servers() {
		link := NewLink(slog.New(slog.DiscardHandler)) // nobody needs to know when it ends
		conn, err := h.Dial(url, link, nats.NoReconnect(), nats.RetryOnFailedConnect(false),
			nats.IgnoreDiscoveredServers())
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
