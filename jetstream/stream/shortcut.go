package stream

import (
	"context"
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
	for pause := jitter(leaderEvery); ; {
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
