// Package jetstream is the storage engine: NATS JetStream, embedded in the process or on an
// external server or cluster. It implements the root package's interfaces for storage.
//
// An Engine (engine.go) chooses its backend once, embedded (embedded.go) or external
// (external.go), and builds its parts. An event takes one way through them: the spool, if
// there is one, takes it while the engine is away; delivery finds out whether it was
// accepted before; and Events (events.go) stores it in one stream. There it is read in order
// (event_log.go), asked for its result (event_results.go), and removed in the end
// (event_trim.go). The embedded engine answers nothing before it is synced to disk; on an
// external one, durability is up to the cluster.
//
// The packages below:
//
//   - queue hands stored events to pipelines and keeps their outcomes;
//   - record stores records by key, such as accounts and webhooks;
//   - correlation has the ids that find their event;
//   - spool takes calls while an external engine is away;
//   - delivery makes one event of a repeated delivery;
//   - stream has what all streams have in common, such as their names (layout.go) and the
//     group commit;
//   - package journal, beside this one, searches calls;
//   - package durable makes files survive a power cut.
//
// Rules about what is stored belong to the packages that store it.
package jetstream

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/delivery"
	"sluice/jetstream/journal"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/queue"
	"sluice/jetstream/record"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// An Engine builds and holds all that is stored.
type Engine struct {
	opts   Options
	host   *stream.Host
	server backend
	losses lossCheck
	advice []string // what an operator could do for durability

	Description string // of the engine, in a few words

	spool        *spooler // nil: there is none
	fallback     *spool.Fallback
	spoolProblem string // why the spool could not be opened

	// Records by token, name or id. Minutes are those of the last day, and hours those
	// of the last 30 days.
	Webhooks       *record.Bucket[sluice.Webhook]
	Accounts       *record.Bucket[sluice.Account]
	Roles          *record.Bucket[sluice.Role]
	Clients        *record.Bucket[sluice.Client]
	Sessions       *record.Bucket[sluice.Session]
	SigningKeys    *record.Bucket[sluice.SigningKey]
	PortalSessions *record.Bucket[sluice.PortalSession]
	Minutes        *record.Bucket[sluice.Minute]
	Hours          *record.Bucket[sluice.Minute]
	Pipelines      *record.Bucket[sluice.Pipeline]
	PipelineStates *record.Bucket[sluice.PipelineState] // which pipelines fail
	Alerts         *record.Bucket[sluice.AlertRecord]
	Closed         *record.Bucket[sluice.ClosedRecord]
	Certificates   *record.Bucket[sluice.CertificateRecord]
	Missed         *record.Bucket[sluice.MissedRun]
	Versions       *record.Bucket[sluice.PipelineHistory]
	Secrets        *record.Bucket[sluice.Secret]
	forgotten      forgottenSet
	keepers        keepers
	keys           *record.Bucket[record.Key]
	records        *record.Budget // of what users store

	Events      sluice.Events  // the way of an event: spool, once, Stored
	Results     sluice.Results // spool, Stored
	Stored      *Events
	Queue       *queue.Queue
	DeadLetters *deadletter.Store
	Journal     *journal.Journal
	Audit       *Audit
	Quarantine  *quarantine.Store
	Erasures    *erasures
	outcomes    *queue.Outcomes
	waiting     *queue.Waiting
	lowWater    *queue.LowWater
	once        delivery.Once
	nodes       *nodes
	replicas    *replicas

	watermarks watermarks // as they were last written
	keyPrint   string     // of the key of the correlation ids
	sealed     []byte     // which generation of the buckets counts

	damageMu sync.Mutex
	damage   []string // what the disk has lost or spoiled

	// What the start has found: other messages than events that are lost, and unfinished
	// writes.
	lostOthers, cutOff int64

	cancel  context.CancelFunc
	closing sync.Once
	backing sync.Mutex // held while a backup is made
}

// stored is called for each event on stable storage.
func (e *Engine) stored(sequence uint64, subject string, event *sluice.Event) {
	e.Journal.Hear(journal.Stored{Sequence: sequence, Subject: subject, Event: event})
	e.once.Stored(sequence, event)
	if event.Method != "" && event.ReplayOf == "" && len(event.Listeners) == 0 {
		e.ended(sluice.CallEnd{EventKey: event.EventKey, TraceID: event.TraceID, Status: sluice.StatusOK})
	}
}

// settled is called with each final outcome. A replay that went well leaves no dead letter of
// the event that it repeats.
func (e *Engine) settled(sequence uint64, traceID, first string, o sluice.Outcome) {
	e.Journal.Hear(journal.Settled{Sequence: sequence, TraceID: traceID, First: first, Outcome: o})
	if e.Erasures.has(traceID) {
		e.Erasures.eraseLate(sequence, traceID)
	}
	if first != "" && o.Status == sluice.StatusOK {
		e.DeadLetters.Repaired(o.Pipeline, first)
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
	if err := e.losses.write(ctx); err != nil {
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

// buckets returns all buckets of records, except that of keys.
func (e *Engine) buckets() []bucket {
	return []bucket{e.Webhooks, e.Accounts, e.Roles, e.Clients, e.Sessions, e.SigningKeys, e.PortalSessions, e.Minutes, e.Hours, e.Pipelines, e.Versions, e.PipelineStates, e.Alerts, e.Closed, e.Missed, e.Certificates, e.Secrets, e.Erasures.records, e.forgotten, e.lowWater}
}

// A bucket has records of any type.
type bucket interface {
	Name() string
	StreamName() string
	SetUp(ctx, running context.Context, in record.Generation) error
	Extent(ctx context.Context) (record.Extent, error)
}

// addDamage remembers what the disk has lost or spoiled.
func (e *Engine) addDamage(text string) {
	e.damageMu.Lock()
	defer e.damageMu.Unlock()
	if !slices.Contains(e.damage, text) {
		e.damage = append(e.damage, text)
	}
}

// damaged returns the first entries of what the disk has lost or spoiled.
func (e *Engine) damaged() []string {
	const most = 20
	e.damageMu.Lock()
	defer e.damageMu.Unlock()
	if len(e.damage) <= most {
		return slices.Clone(e.damage)
	}
	return append(slices.Clone(e.damage[:most]), fmt.Sprintf("and %d more; the log has them all", len(e.damage)-most))
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

// A lossCheck remembers how much was stored, so that a start notices what the disk has lost.
type lossCheck interface {
	// checkKeys reports whether keys are missing, before new ones are made: then the
	// engine must not serve.
	checkKeys(ctx context.Context) (damaged bool, err error)

	// check reports whether so much is missing that the engine must not serve.
	check(ctx context.Context) (damaged bool, err error)

	// write stores how much there is.
	write(ctx context.Context) error

	// forget makes the next start accept the buckets as they are.
	forget() error
}

// noLossCheck is the lossCheck of an external engine, which has to look after its own disks.
type noLossCheck struct{}

func (noLossCheck) checkKeys(context.Context) (damaged bool, err error) { return false, nil }
func (noLossCheck) check(context.Context) (damaged bool, err error)     { return false, nil }
func (noLossCheck) write(context.Context) error                         { return nil }
func (noLossCheck) forget() error                                       { return nil }
