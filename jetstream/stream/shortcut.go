package stream

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

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
	ways   *ways
	direct atomic.Pointer[direct] // nil: there is none
}

// direct is a connection to one server.
type direct struct {
	*nats.Conn

	link *Link
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
	// Not all nodes ask at once.
	for pause := leaderEvery/2 + rand.N(leaderEvery); wait.For(ctx, pause) == nil; pause = leaderEvery {
		if leader := s.leader(ctx); leader != "" {
			s.direct.Store(s.ways.to(s.host, leader))
		}
	}
	s.ways.close()
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

// Near returns a connection to the server of a name, which leads a consumer: its messages need not be passed on
// by another server. It is the node's own one if that is connected to this server, or if there is no better one.
// It does not reconnect by itself.
func (h *Host) Near(server string) *nats.Conn {
	if d := h.near.to(h, server); d != nil {
		return d.Conn
	}
	return h.Conn
}

// ways are connections to servers of an external engine.
type ways struct {
	mu      sync.Mutex
	servers map[string]*direct
	failed  map[string]time.Time // servers that could not be reached
}

func newWays() *ways {
	return &ways{servers: make(map[string]*direct), failed: make(map[string]time.Time)}
}

// to returns the connection to the server of a name, nil if the node's own one leads there, or no other.
func (w *ways) to(h *Host, server string) *direct {
	if server == "" || h.Dial == nil || h.Conn.ConnectedServerName() == server {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.servers[server]; d != nil && d.link.connected() {
		return d
	}
	if time.Since(w.failed[server]) < noWay {
		return nil
	}
	d := h.dial(server)
	if d == nil {
		w.failed[server] = time.Now()
		return nil
	}
	w.servers[server] = d
	return d
}

// close ends these connections.
func (w *ways) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.servers {
		d.link.Release()
		d.Close()
	}
	clear(w.servers)
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
			return &direct{conn, link}
		}
		conn.Close()
	}
	return nil
}
