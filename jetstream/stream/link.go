package stream

import (
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// dialTimeout bounds the attempt to reach one server.
	dialTimeout = 2 * time.Second
	// sendTimeout bounds one write to a server that reads nothing.
	sendTimeout = time.Second
	// pingEvery and pingsOut say when a silent server is left, if the probe has not
	// left it before.
	pingEvery, pingsOut = 2 * time.Second, 2
	// reconnecting is for how long a lost connection is expected to be back soon.
	// Calls wait that long for it.
	reconnecting = time.Second
)

// A Link knows the state of the connection to an external engine. Asking the client library
// takes its lock, which it holds while it writes to a server that hangs.
type Link struct {
	log  *slog.Logger
	lost atomic.Int64 // when the connection was lost, in nanoseconds; 0: it is there

	socket atomic.Pointer[net.TCPConn]
}

// Options returns the options of the connection.
func (l *Link) Options() []nats.Option {
	return []nats.Option{
		nats.Name("sluice"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // a password may be wrong only while it is being changed
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectBufSize(-1), // a write without a connection fails at once
		nats.Timeout(dialTimeout),
		nats.FlusherTimeout(sendTimeout),
		nats.ReconnectOnFlusherError(),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(pingsOut),
		nats.SetCustomDialer(l),
		nats.ConnectHandler(func(*nats.Conn) { l.Connected() }),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			l.Connected()
			l.log.Info("Connected to the engine again.", "server", nc.ConnectedServerName())
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			l.lost.CompareAndSwap(0, time.Now().UnixNano())
			if err != nil {
				l.log.Warn("The connection to the engine is lost; reconnecting.", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			l.log.Warn("The engine reports a problem.", "error", err)
		}),
	}
}

// Connected notes that there is a connection.
func (l *Link) Connected() { l.lost.Store(0) }

// Dial implements nats.CustomDialer.
func (l *Link) Dial(network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// What a server has not read when it is left must not reach it later: by then
		// the callers have been refused.
		_ = tcp.SetLinger(0) // if it fails, there is nothing else to do
		l.socket.Store(tcp)
	}
	return conn, nil
}

// Cut ends the connection. The client library then goes on to another server.
func (l *Link) Cut() {
	if tcp := l.socket.Load(); tcp != nil {
		_ = tcp.Close() // it may be closed already
	}
}

// Release lets the server read what was written to it when the connection ends.
func (l *Link) Release() {
	if tcp := l.socket.Load(); tcp != nil {
		_ = tcp.SetLinger(-1) // it may be closed already
	}
}

// Up reports whether there is a connection, or was one until a moment ago.
func (l *Link) Up() bool {
	lost := l.lost.Load()
	return lost == 0 || time.Since(time.Unix(0, lost)) < reconnecting
}

// connected reports whether there is a connection right now.
func (l *Link) connected() bool { return l.lost.Load() == 0 }

// NewLink returns a link that is not connected yet.
func NewLink(log *slog.Logger) *Link {
	l := &Link{log: log}
	l.lost.Store(1)
	return l
}
