package stream

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/stretch"
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
		if leader := s.leader(ctx); leader != "" && !s.connect(leader) {
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

// dial connects to the server of a name, nil if it can't be reached. The addresses of
// servers don't tell their names, so it tries all that are known.
func (h *Host) dial(server string) *direct {
	for _, url := range h.Conn.Servers() {
		link := NewLink(slog.New(slog.DiscardHandler)) // nobody needs to know when it ends
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

const (
	sayEvery    = 5 * time.Second
	heardWithin = 3 * sayEvery // a node that was not heard for that long is gone
	moveEvery   = 30 * time.Second
)

// nodes knows which server each node is connected to. After a server was away, all nodes are
// on the others, and only a reconnect spreads them again.
type nodes struct {
	mu    sync.Mutex
	heard map[string]heard // by node
}

type heard struct {
	server string
	at     time.Time
}

// Spread moves this node to another server of an external engine whenever its own has more
// than its share of nodes, until ctx ends. The function servers returns how many there are.
func (h *Host) Spread(ctx context.Context, servers func() int) error {
	n := &nodes{heard: make(map[string]heard)}
	self := rand.Text()
	sub, err := h.Conn.Subscribe(NodeSubject, func(msg *nats.Msg) {
		if node, server, ok := strings.Cut(string(msg.Data), " "); ok {
			n.hear(node, server, time.Now())
		}
	})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() }) // fails if the connection has gone, which ends it too
	var moved time.Time
	say := func(now time.Time) {
		if h.Ready() != nil {
			moved = now // wait until the engine has been well for a while
			return
		}
		server := h.Conn.ConnectedServerId()
		_ = h.Conn.Publish(NodeSubject, []byte(self+" "+server)) // the next one says the same
		n.hear(self, server, now)
		if now.Sub(moved) < moveEvery {
			return
		}
		// On average one of the surplus nodes moves, not all of them.
		if mine, most := n.share(server, servers(), now); mine > most && mathrand.IntN(mine) == 0 {
			moved = now
			h.Log.Info("Going to another server of the engine, since this one serves many nodes.", "nodes", mine)
			h.Link.Cut()
		}
	}
	h.Every(ctx, jitter(sayEvery), say)
	return nil
}

func (n *nodes) hear(node, server string, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard[node] = heard{server, now}
}

// share returns how many nodes a server has, and how many it has at most if they are spread
// evenly.
func (n *nodes) share(server string, servers int, now time.Time) (mine, most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for node, h := range n.heard {
		switch {
		case now.Sub(h.at) > heardWithin:
			delete(n.heard, node)
		case h.server == server:
			mine++
		}
	}
	servers = max(1, servers)
	return mine, (len(n.heard) + servers - 1) / servers
}
