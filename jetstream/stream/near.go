package stream

import (
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

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
