package jetstream

import (
	"context"
	"crypto/rand"
	"time"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/correlation"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/journal"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// build makes an engine and its parts. They are not connected or set up yet.
func build(opts Options) *Engine {
	e := &Engine{opts: opts}
	if opts.URL == "" {
		e.useEmbedded()
	} else {
		e.useExternal()
	}
	h := e.host
	h.Observe = opts.ObserveBatch
	e.Records = newRecords(h, e.opts.RecordMemory)
	e.Erasures = &erasures{e, addBucket[sluice.Erasure](&e.Records, h, stream.Erasures)}
	e.Webhooks.Follow(e.keepers.follow)
	hub, listeners := queue.NewHub(), queue.NewListeners(e.Pipelines)
	e.outcomes = queue.NewOutcomes(h, hub, queue.Retention{
		Age: opts.ResultTTL, MaxCount: opts.ResultMaxCount, MaxBytes: opts.ResultMaxBytes,
	})
	e.DeadLetters = deadletter.NewStore(h)
	e.waiting = queue.NewWaiting(h)
	e.lowWater = queue.NewLowWater(h, listeners)
	e.all = append(e.all, e.lowWater)
	e.Journal = journal.New(h, journal.Events{
		MaxAge: opts.EventMaxAge, ResultAge: opts.ResultTTL, Recovered: e.ended,
		Bound: listeners.Bound, Receivers: listeners.Receivers, Waits: e.waiting.Waits,
		Erased: e.Erasures.has, Forgotten: e.forgotten.has,
		Retries: func(ctx context.Context, env correlation.Envelope, pipeline string) (bool, time.Time, error) {
			return e.Queue.Retries(ctx, env, pipeline)
		},
		Outcome: func(ctx context.Context, env correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
			return e.Queue.Outcome(ctx, env, pipeline)
		},
	})
	e.Queue = queue.New(h, queue.Options{
		Listeners: listeners, LowWater: e.lowWater, Outcomes: e.outcomes, DeadLetters: e.DeadLetters,
		Waiting: e.waiting,
		Settled: e.settled, Ended: e.ended, RunMemory: opts.RunMemory, AckWait: opts.AckWait,
	})
	e.Stored = &Events{
		host: h, listeners: listeners, lowWater: e.lowWater, queue: e.Queue, hub: hub, outcomes: e.outcomes,
		space: newSpace(), stored: e.stored,
		keep: retention{age: opts.EventMaxAge, maxBytes: opts.EventMaxBytes, resultAge: opts.ResultTTL},
	}
	e.Stored.mark, e.Stored.fit, e.Stored.forgotten = e.losses.write, e.server.fit, e.forgotten.has
	e.once = e.server.once(e.Stored)
	e.Events, e.Results = e.once, e.Stored
	e.Audit = &Audit{host: h}
	e.nodes = &nodes{
		host: h, self: node{rand.Text(), opts.Version, durable.Format}, others: make(map[string]seenNode),
		logged: make(map[string]bool),
	}
	e.replicas = &replicas{host: h, ours: e.owns}
	e.Quarantine = quarantine.New(h)
	return e
}
