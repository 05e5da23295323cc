package jetstream

import (
	"crypto/rand"

	"sluice"
	"sluice/durable"
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
	e.DeadLetters = deadletter.NewStore(h)
	e.Queue = queue.New(h, e.Pipelines, queue.Options{
		DeadLetters: e.DeadLetters,
		Keep:        queue.Retention{Age: opts.ResultTTL, MaxCount: opts.ResultMaxCount, MaxBytes: opts.ResultMaxBytes},
		Settled:     e.settled, Ended: e.ended, RunMemory: opts.RunMemory, AckWait: opts.AckWait,
	})
	e.all = append(e.all, e.Queue.LowWater)
	e.Journal = journal.New(h, journal.Events{
		MaxAge: opts.EventMaxAge, ResultAge: opts.ResultTTL, Recovered: e.ended,
		Bound: e.Queue.Listeners.Bound, Receivers: e.Queue.Listeners.Receivers, Waits: e.Queue.Waiting.Waits,
		Retries: e.Queue.Retries, Outcome: e.Queue.Outcome,
		Erased: e.Erasures.has, Forgotten: e.forgotten.has,
	})
	e.Stored = &Events{
		host: h, queue: e.Queue, space: newSpace(), stored: e.stored,
		keep: retention{age: opts.EventMaxAge, maxBytes: opts.EventMaxBytes, resultAge: opts.ResultTTL},
	}
	e.Stored.mark, e.Stored.fit, e.Stored.forgotten = e.writeWatermarks, e.server.fit, e.forgotten.has
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
