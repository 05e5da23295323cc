package jetstream

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/durable"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/delivery"
	"sluice/jetstream/journal"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// build makes an engine and its parts. They are not connected or set up yet.
func build(opts Options) *Engine {
	e := &Engine{opts: opts, repairs: repairs{heard: make(chan struct{})}}
	if opts.URL == "" {
		e.useEmbedded()
	} else {
		e.useExternal()
	}
	h := e.host
	h.Observe = opts.ObserveBatch
	e.makeRecords(h, opts.RecordMemory)
	e.Erasures = newErasures(e)
	e.Webhooks.Follow(e.keepers.follow)
	e.DeadLetters = deadletter.NewStore(h, cmp.Or(opts.DeadLetterMaxBytes, stream.DeadLetterBytes))
	e.Queue = queue.New(h, e.Pipelines, queue.Options{
		DeadLetters: e.DeadLetters,
		Keep:        queue.Retention{Age: opts.ResultTTL, MaxCount: opts.ResultMaxCount, MaxBytes: opts.ResultMaxBytes},
		Settled:     e.settled, Ended: e.ended, RunMemory: opts.RunMemory, AckWait: opts.AckWait,
		WaitingMemory: opts.WaitingMemory,
	})
	e.all = append(e.all, e.Queue.LowWater)
	e.Journal = journal.New(h, journal.Events{
		MaxAge: opts.EventMaxAge, ResultAge: opts.ResultTTL, Ended: e.ended,
		Bound: e.Queue.Listeners.Bound, Receivers: e.Queue.Listeners.Receivers, Waits: e.Queue.Waiting.Waits,
		Retries: e.Queue.Retries, Outcome: e.outcome,
		Erased: e.Erasures.isDone, Erasing: e.Erasures.isAsked, Forgotten: e.forgotten.has,
	})
	e.Stored = &Events{Engine: e, space: newSpace()}
	e.once = e.server.once(e.Stored)
	e.Events, e.Batches, e.Results = e.once, e.once, e.Stored
	e.Audit = &Audit{host: h, chains: make(map[string]*auditChain)}
	e.nodes = &nodes{
		host: h, self: node{ID: rand.Text(), Version: opts.Version, Format: durable.Format},
		others: make(map[string]seenNode), logged: make(map[string]bool),
	}
	e.replicas = &replicas{host: h, ours: e.owns}
	e.Quarantine = quarantine.New(h)
	return e
}

// A backend is the server of an Engine: embedded in this process (embedded.go), or a server
// or cluster elsewhere (external.go).
type backend interface {
	// connect gives the host its connections.
	connect() error

	// connection returns a further connection.
	connection() (*nats.Conn, error)

	// usable returns nil if the server can be used at all.
	usable(ctx context.Context) error

	// once returns what stands before the events and finds repeated deliveries.
	once(events delivery.Engine) delivery.Once

	// fit completes the configuration of the stream of events.
	fit(ctx context.Context, events *jetstream.StreamConfig) error

	// watch checks whether the server takes events, until running ends.
	watch(running context.Context) error

	// stop ends the server, if it is in this process.
	stop()
}
