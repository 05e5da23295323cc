// Package stream has what all streams of the engine have in common: the host they live on
// and whether it can be used, durable writes, reading many messages at a time, and the
// engine's errors in our words.
//
// layout.go has the names of all streams and how long they keep messages, size.go how large
// messages may be. host.go and health.go describe the host, and engine.go how an embedded
// engine and an external one differ: the first has a group commit (batch.go), the second
// batches (cluster.go) that go straight to the leader (shortcut.go). fetch.go and
// entries.go read.
//
// The packages above decide what is in the messages: record, queue, journal, jetstream.
package stream

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/stretch"
)

const (
	// AskTimeout bounds each request to the engine that has no bound of its own.
	AskTimeout = 3 * time.Second
	// SetUpTimeout bounds the set-up of an embedded engine. It should never be reached:
	// that engine always replies, as soon as the disk lets it.
	SetUpTimeout = time.Hour
)

// A Host is the server that streams live on: the embedded one or an external one.
type Host struct {
	Conn     *nats.Conn
	Link     *Link // what is known of the connection; nil: embedded
	JS       jetstream.JetStream
	Side     *nats.Conn          // for work that must not hold up calls; a separate connection if embedded
	SideJS   jetstream.JetStream // on Side
	Dir      string              // folder of the embedded engine's store; "": it is elsewhere
	Replicas int                 // of each stream on the external engine
	Log      *slog.Logger

	// DirectReads says that any server can answer a read. In a cluster a replica may
	// be behind, so there only the leader can.
	DirectReads bool

	// SoleWriter says that only this process writes: there are no other nodes to tell
	// or to ask.
	SoleWriter bool

	// Reopened says that this is the host of a spool, which is opened again if it fails.
	Reopened bool

	// Dial connects to one server of an external engine; nil if it is embedded.
	Dial func(url string, link *Link, options ...nats.Option) (*nats.Conn, error)

	// Syncs reports whether we sync the embedded engine's writes to a stream, or with
	// "" to any stream.
	Syncs func(stream string) bool

	// Observe, if set, returns a function to call for each batch of a stream that was
	// written and synced.
	Observe func(stream string) func(messages int, took time.Duration)

	sealing atomic.Pointer[sealing] // nil: nothing is sealed

	running sync.WaitGroup
	near    *ways // for deliveries

	health

	mu      sync.Mutex
	writers []*batchWriter // of the embedded engine
}

func newHost(log *slog.Logger) *Host {
	h := &Host{Log: log, Syncs: func(string) bool { return false }, near: newWays()}
	h.ready, h.failed = make(chan struct{}), make(chan struct{})
	h.problem.Store("the engine is starting")
	h.lowDisk.Store(new(string))
	return h
}

// Start runs a function that Wait waits for.
func (h *Host) Start(run func()) { h.running.Go(run) }

// Every does something at an interval until ctx ends. Wait waits for it.
func (h *Host) Every(ctx context.Context, interval time.Duration, do func(now time.Time)) {
	h.Start(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				do(now)
			}
		}
	})
}

// TryEvery does something at an interval until ctx ends, and warns if that fails although the engine
// takes writes.
func (h *Host) TryEvery(ctx context.Context, interval time.Duration, warning string, do func(context.Context) error) {
	h.Every(ctx, interval, func(time.Time) {
		if err := do(ctx); err != nil && ctx.Err() == nil && h.Ready() == nil {
			h.Log.Warn(warning, "error", err)
		}
	})
}

// Subscribe handles what nodes tell each other on a subject, until ctx ends.
func (h *Host) Subscribe(ctx context.Context, subject string, handle nats.MsgHandler) error {
	sub, err := h.Conn.Subscribe(subject, handle)
	if err == nil {
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() }) // fails if the connection has gone, which ends it too
	}
	return err
}

// Wait returns when all that was started has ended.
func (h *Host) Wait() {
	h.near.close()
	h.running.Wait()
}

// Disconnect ends the connections to the engine.
func (h *Host) Disconnect() {
	if h.Link != nil {
		h.Link.Release()
	}
	for _, conn := range []*nats.Conn{h.Conn, h.Side} {
		if conn != nil {
			conn.Close()
		}
	}
}

// Connect gives the host its connections: one for calls and one for work that must not hold
// them up. Both may be the same.
func (h *Host) Connect(calls, side *nats.Conn) (err error) {
	h.Conn, h.Side = calls, side
	if h.JS, err = jetstream.New(calls, jetstream.WithDefaultTimeout(stretch.Of(AskTimeout))); err != nil {
		return err
	}
	h.SideJS, err = jetstream.New(side, jetstream.WithDefaultTimeout(stretch.Of(AskTimeout)))
	return err
}
