package stream

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// near has connections for deliveries, one for each server of an external engine
// that leads consumers. What comes from there need not be passed on.
type near struct {
	mu      sync.Mutex
	servers map[string]*direct
	failed  map[string]time.Time // servers that could not be reached
}

// Near returns a connection to the server of a name: the node's own one if that is
// there, or nothing better is known. When it ends, it is not made again by itself.
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
