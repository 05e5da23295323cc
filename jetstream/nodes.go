package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

const (
	nodeEvery = 2 * time.Second // how often a node announces itself
	nodeGone  = 3 * nodeEvery   // and when it is believed to have gone
)

// nodes knows the other nodes that share an external engine, and notices those of another
// version.
type nodes struct {
	host *stream.Host
	self node

	mu     sync.Mutex
	others map[string]seenNode // by id
	logged map[string]bool     // versions that were logged
}

// A node is how a server announces itself.
type node struct {
	ID      string `json:"id"`
	Version string `json:"version"` // of the program
	Format  int    `json:"format"`  // in which it stores
}

type seenNode struct {
	node

	at time.Time
}

// setUp begins to announce this node and to listen to the others.
func (n *nodes) setUp(running context.Context) error {
	hello, err := value.Marshal(n.self)
	if err != nil {
		return err
	}
	announce := func(time.Time) { _ = n.host.Conn.Publish(stream.NodeSubject, hello) } // the next one may arrive
	announce(time.Now())
	n.host.Every(running, nodeEvery, announce)
	return n.host.Subscribe(running, stream.NodeSubject, n.hear)
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

// versions counts the other nodes whose version is not ours, by version.
func (n *nodes) versions() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := make(map[string]int)
	for id, other := range n.others {
		switch {
		case time.Since(other.at) > nodeGone:
			delete(n.others, id)
		case other.Version != n.self.Version:
			found[other.Version]++
		}
	}
	return found
}

// warnings names the other versions.
func (n *nodes) warnings() []string {
	found := n.versions()
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
