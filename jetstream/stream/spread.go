package stream

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

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

type heard struct {
	server string
	at     time.Time
}

// Spread moves this node to another server of an external engine whenever its own has more
// than its share of nodes, until ctx ends. The function servers returns how many there are.
func (h *Host) Spread(ctx context.Context, servers func() int) error {
	n := &nodes{heard: make(map[string]heard)}
	self := rand.Text()
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
	return h.Subscribe(ctx, NodeSubject, func(msg *nats.Msg) {
		if node, server, ok := strings.Cut(string(msg.Data), " "); ok {
			n.hear(node, server, time.Now())
		}
	})
}

// jitter returns a duration between half and one and a half of d.
func jitter(d time.Duration) time.Duration { return d/2 + mathrand.N(d) }
