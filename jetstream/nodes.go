package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

const (
	nodeEvery = 2 * time.Second // how often a node announces itself
	nodeGone  = 3 * nodeEvery   // and when it is believed to have gone
	moveEvery = 30 * time.Second
)

// nodes knows the other nodes that share an external engine. It notices those of another version, and
// moves this one to another server whenever its own has more than its share of nodes: after a server was
// away, all nodes are on the others, and only a reconnect spreads them again.
type nodes struct {
	host    *stream.Host
	self    node
	servers atomic.Int64 // that the engine has

	mu     sync.Mutex
	moved  time.Time           // when this node went elsewhere, or the engine was not well
	others map[string]seenNode // by id
	logged map[string]bool     // versions that were logged
}

// A node is how a server announces itself.
type node struct {
	ID      string `json:"id"`
	Version string `json:"version"`          // of the program
	Format  int    `json:"format"`           // in which it stores
	Server  string `json:"server,omitempty"` // of the engine, while that is well
}

type seenNode struct {
	node

	at time.Time
}

// setUp begins to announce this node and to listen to the others.
func (n *nodes) setUp(running context.Context) error {
	n.announce(time.Now())
	n.host.Every(running, nodeEvery, n.announce)
	return n.host.Subscribe(running, stream.NodeSubject, n.hear)
}

// announce tells the others of this node, and leaves a crowded server. Of the surplus nodes one moves on
// average, not all of them.
func (n *nodes) announce(now time.Time) {
	self := n.self
	if n.host.Ready() == nil {
		self.Server = n.host.Conn.ConnectedServerId()
	}
	if hello, err := value.Marshal(self); err == nil {
		_ = n.host.Conn.Publish(stream.NodeSubject, hello) // the next one may arrive
	}
	mine, most := share(n.present(now), self.Server, int(n.servers.Load()))
	n.mu.Lock()
	defer n.mu.Unlock()
	if self.Server == "" {
		n.moved = now // wait until the engine has been well for a while
	}
	if now.Sub(n.moved) >= moveEvery && mine > most && mathrand.IntN(mine) == 0 {
		n.moved = now
		n.host.Log.Info("Going to another server of the engine, since this one serves many nodes.", "nodes", mine)
		n.host.Link.Cut()
	}
}

// share returns how many nodes a server has with this one, and how many it has at most if they are
// spread evenly.
func share(others []node, server string, servers int) (mine, most int) {
	mine, all := 1, 1
	for _, other := range others {
		if other.Server != "" {
			all++
		}
		if other.Server == server {
			mine++
		}
	}
	servers = max(1, servers)
	return mine, (all + servers - 1) / servers
}

// present returns the other nodes that were heard lately.
func (n *nodes) present(now time.Time) (others []node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, other := range n.others {
		if now.Sub(other.at) > nodeGone {
			delete(n.others, id)
			continue
		}
		others = append(others, other.node)
	}
	return others
}

// hear notes another node. If that one stores in a newer format, this one can't go on.
func (n *nodes) hear(msg *nats.Msg) {
	var other node
	if json.Unmarshal(msg.Data, &other) != nil || other.ID == n.self.ID {
		return
	}
	n.mu.Lock()
	n.others[other.ID] = seenNode{other, time.Now()}
	news := other.Version != n.self.Version && !n.logged[other.Version]
	n.logged[other.Version] = true
	n.mu.Unlock()
	if news {
		n.host.Log.Warn("A node of another version shares the engine; let all nodes have the same soon.",
			"this", n.self.Version, "other", other.Version)
	}
	if other.Format > n.self.Format {
		n.host.Fail(sluice.CodeEngineNewer.Errorf("A node of version %s has begun to use the engine: it "+
			"stores in format %d, this program knows %d. Start version %s here, too.", other.Version, other.Format,
			n.self.Format, other.Version))
	}
}

// warnings names the other versions.
func (n *nodes) warnings() []string {
	found := make(map[string]int)
	for _, other := range n.present(time.Now()) {
		if other.Version != n.self.Version {
			found[other.Version]++
		}
	}
	if len(found) == 0 {
		return nil
	}
	var parts []string
	for _, version := range slices.Sorted(maps.Keys(found)) {
		parts = append(parts, fmt.Sprintf("%d of version %s", found[version], version))
	}
	return []string{fmt.Sprintf("nodes of other versions share the engine: %s; this one has %s: finish the upgrade",
		strings.Join(parts, ", "), n.self.Version)}
}
