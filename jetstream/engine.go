// Package jetstream is the storage engine: NATS JetStream, embedded in the process or on an
// external server or cluster. It implements the root package's interfaces for storage.
//
// An Engine (engine.go) chooses its backend once, embedded (embedded.go) or external
// (external.go), and builds its parts (build.go). An event goes one way through them: the
// spool, if there is one, accepts it while the engine is away; delivery finds out whether
// it was accepted before; and Events (events.go) stores it in one stream. There it is read
// in order (event_log.go), asked for its result (event_results.go), and removed in the end
// (event_trim.go), or earlier by its webhook's will (keep.go) or a person's (erasures.go).
// The embedded engine answers nothing before it is synced to disk; on an external one,
// durability is up to the cluster.
//
// The packages below:
//
//   - queue hands stored events to pipelines and keeps their outcomes;
//   - journal searches calls;
//   - record stores records by key, such as accounts and webhooks;
//   - correlation has the ids that find their event;
//   - spool accepts calls while an external engine is away;
//   - delivery makes one event of a repeated delivery;
//   - stream has what all streams have in common, such as their names and the group commit.
//
// Package durable makes files survive a power cut. Rules about what is stored belong to the
// packages that store it.
package jetstream

import (
	"context"
	"sync"

	"sluice"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/delivery"
	"sluice/jetstream/journal"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/queue"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// An Engine builds and holds all that is stored.
type Engine struct {
	opts   Options
	host   *stream.Host
	server backend
	advice []string // what an operator could do for durability

	Description string // of the engine, in a few words

	spool        *spooler // nil: there is none
	fallback     *spool.Fallback
	spoolProblem string // why the spool could not be opened

	Records
	keepers keepers

	Events      sluice.Events  // the way of an event: spool, once, Stored
	Batches     sluice.Batches // once, Stored
	Results     sluice.Results // spool, Stored
	Stored      *Events
	Queue       *queue.Queue
	DeadLetters *deadletter.Store
	Journal     *journal.Journal
	Audit       *Audit
	Quarantine  *quarantine.Store
	Erasures    *erasures
	once        delivery.Once
	nodes       *nodes
	replicas    *replicas

	marking    sync.Mutex // held while watermarks are written
	watermarks watermarks // as they were last written
	repairs    repairs
	keyPrint   string // of the key of the correlation ids
	sealed     []byte // which generation of the buckets counts
	damage     lossLog

	cancel  context.CancelFunc
	closing sync.Once
	backing sync.Mutex // held while a backup is made
}

// stored is called for each event on stable storage.
func (e *Engine) stored(sequence uint64, subject string, event *sluice.Event) {
	e.Journal.Hear(journal.Stored{Sequence: sequence, Subject: subject, Event: event})
	e.once.Stored(sequence, event)
	if event.ReplayOf != "" || event.Origin != nil || event.Split != nil {
		return
	}
	if event.Method == "" && e.opts.ObserveSent != nil {
		e.opts.ObserveSent(event.TraceID)
	}
	if len(event.Listeners) == 0 {
		e.ended(sluice.CallEnd{
			EventKey: event.EventKey, TraceID: event.TraceID, Status: sluice.StatusOK, Sent: event.Method == "",
		})
	}
}

// settled is called with each final outcome. A replay that went well leaves no dead letter of
// the event that it repeats.
func (e *Engine) settled(s queue.Settled) {
	e.Journal.Hear(journal.Settled(s))
	if s.Outcome.Stored > 0 && e.Erasures.isAsked(s.TraceID) { // otherwise nothing was made of it
		e.Erasures.eraseLate(s.Sequence, s.TraceID)
	}
	if s.First != "" && s.Outcome.Status == sluice.StatusOK {
		e.DeadLetters.Repaired(s.Outcome.Pipeline, s.First)
	}
}

// ended tells what became of a call.
func (e *Engine) ended(end sluice.CallEnd) {
	if e.opts.ObserveEnd != nil {
		e.opts.ObserveEnd(end)
	}
}

// finish stores what is only in memory.
func (e *Engine) finish() {
	e.once.Finish()
	e.Journal.Finish()
	if e.host.Connected() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stretch.Of(embeddedStop))
	defer cancel()
	if err := e.writeWatermarks(ctx); err != nil {
		e.host.Log.Warn("How much is stored could not be written down.", "error", err)
	}
}

// Close stops the engine. What was acknowledged is safe even without Close.
func (e *Engine) Close() {
	e.closing.Do(e.finish)
	e.cancel()
	e.host.Disconnect()
	e.host.Wait()
	if e.spool != nil {
		e.spool.close()
	}
	e.server.stop()
}
