package jetstream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/delivery"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/queue"
	"sluice/jetstream/record"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
	"sluice/journal"
	"sluice/seal"
	"sluice/stretch"
)

// SyncMode says who makes the embedded engine's writes durable. Only benchmarks
// and torture tests use others than GroupCommit, to compare.
type SyncMode int

// The sync modes.
const (
	GroupCommit  SyncMode = iota // one sync for all calls that wait
	EngineSync                   // the engine syncs each message by itself
	NoSync                       // nobody does: a power cut loses events
	NoResultSync                 // one sync for all calls that wait, none for results
)

// Options configure an engine.
type Options struct {
	Dir         string // folder of the embedded engine's store
	URL         string // external engine; empty means embedded
	Credentials string // file with credentials for the external engine
	Replicas    int    // of each stream on the external engine
	SyncsAlways bool   // the external engine does, as its operator says

	SpoolDir      string // folder of the spool beside an external engine; "": there is none
	SpoolMaxBytes int64

	EventMaxAge   time.Duration
	EventMaxBytes int64 // 0: half of the volume (embedded), unlimited (external)
	MinFreeDisk   int64
	ResultTTL     time.Duration

	ResultMaxCount int64 // results that are kept
	ResultMaxBytes int64

	// Box returns what records are sealed with. If sealed is true there are
	// records already: only the key they were sealed with will do.
	Box func(sealed bool) (*seal.Box, error)

	// Begin is called before anything is stored in the way that this version
	// stores it; it may be nil.
	Begin func() error

	RunMemory      int64 // bytes that the events of all runs take in memory; 0: no bound
	DeliveryMemory int64 // bytes that the ids of deliveries take; 0: no bound but that on their number

	Version string // of the program

	Sync SyncMode
	Log  *slog.Logger

	// ObserveFailed, if set, is told the key of each event that a pipeline failed
	// on for good.
	ObserveFailed func(eventKey string)

	// ObserveBatch, if set, returns the function to call for each batch of a
	// stream that was written and synced.
	ObserveBatch func(stream string) func(messages int, took time.Duration)
}

// syncs reports whether writes to a stream of the embedded engine are to be
// synced by us.
func (o Options) syncs(name string) bool {
	switch o.Sync {
	case GroupCommit:
		return true
	case NoResultSync:
		return name != queue.OutcomeStream
	default:
		return false
	}
}

// maxMessage is the largest message the engine must take: a payload of 4 MiB
// is 5.6 MB in base64, plus its headers.
const maxMessage = 8 << 20

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
	spoolProblem string // why there is none, if there should be

	// Records by key: a token, a name or an id. Minutes are of the last day, hours of
	// the last 30 days.
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
	Versions       *record.Bucket[sluice.PipelineHistory]
	Secrets        *record.Bucket[sluice.Secret]
	keys           *record.Bucket[record.Key]

	Events      sluice.Events  // the way of an event: spool, once, Stored
	Results     sluice.Results // spool, Stored
	Stored      *Events
	Queue       *queue.Queue
	DeadLetters *deadletter.Store
	Journal     *journal.Journal
	Audit       *Audit
	Quarantine  *quarantine.Store
	outcomes    *queue.Outcomes
	waiting     *queue.Waiting
	lowWater    *queue.LowWater
	once        delivery.Once
	nodes       *nodes

	marks    watermarks // as they were last written
	keyPrint string     // of the key of the correlation ids
	sealed   []byte     // which generation of the buckets counts

	damageMu sync.Mutex
	damage   []string // what the disk has lost or spoiled, in words

	cancel  context.CancelFunc
	closing sync.Once
	backing sync.Mutex // held while a backup is made
}

// Open starts the embedded engine, or connects to an external one. An external
// engine that can't be used yet is not an error: Ready says why, and the Engine
// keeps trying.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := build(opts)
	e.cancel = cancel
	if err := e.server.connect(); err != nil {
		e.Close()
		return nil, err
	}
	e.startSpool(ctx)
	if opts.URL != "" {
		e.host.Start(func() { e.setUpUntilDone(running) })
		return e, nil
	}
	ctx, done := context.WithTimeout(ctx, stream.SetUpTimeout)
	defer done()
	if err := e.setUp(ctx, running); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// build makes the parts of an engine, each with the others it needs.
func build(opts Options) *Engine {
	e := &Engine{opts: opts}
	if opts.URL == "" {
		e.useEmbedded()
	} else {
		e.useExternal()
	}
	h := e.host
	h.Observe = opts.ObserveBatch
	e.buildRecords()
	hub, listeners := queue.NewHub(), queue.NewListeners(e.Pipelines)
	e.outcomes = queue.NewOutcomes(h, hub, queue.Retention{Age: opts.ResultTTL, MaxCount: opts.ResultMaxCount, MaxBytes: opts.ResultMaxBytes})
	e.DeadLetters = deadletter.NewStore(h)
	e.waiting = queue.NewWaiting(h)
	e.lowWater = queue.NewLowWater(h, listeners)
	e.Journal = journal.New(h, journal.Events{
		MaxAge: opts.EventMaxAge, ResultAge: opts.ResultTTL, Bound: listeners.Bound, Takers: listeners.Takers, Waits: e.waiting.Waits,
		Outcome: func(ctx context.Context, env correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
			return e.Queue.Outcome(ctx, env, pipeline)
		},
	})
	e.Queue = queue.New(h, queue.Options{
		Listeners: listeners, LowWater: e.lowWater, Outcomes: e.outcomes, DeadLetters: e.DeadLetters, Waiting: e.waiting,
		Settled: e.Journal.Settled, Failed: opts.ObserveFailed, RunMemory: opts.RunMemory,
	})
	e.Stored = &Events{
		host: h, listeners: listeners, floors: e.lowWater, queue: e.Queue, hub: hub, outcomes: e.outcomes, space: newSpace(), stored: e.stored,
		keep: retention{age: opts.EventMaxAge, maxBytes: opts.EventMaxBytes, resultAge: opts.ResultTTL},
	}
	e.Stored.mark, e.Stored.fit = e.losses.write, e.server.fit
	e.once = e.server.once(e.Stored)
	e.Events, e.Results = e.once, e.Stored
	e.Audit, e.nodes = &Audit{host: h}, newNodes(h, opts.Version)
	e.Quarantine = quarantine.New(h)
	return e
}

// buildRecords makes the buckets of records.
func (e *Engine) buildRecords() {
	h := e.host
	e.Webhooks = record.New[sluice.Webhook](h, stream.Webhooks)
	e.Accounts = record.New[sluice.Account](h, stream.Accounts)
	e.Roles = record.New[sluice.Role](h, stream.Roles)
	e.Clients = record.New[sluice.Client](h, stream.Clients)
	e.Sessions = record.New[sluice.Session](h, stream.Sessions)
	e.SigningKeys = record.New[sluice.SigningKey](h, stream.SigningKeys)
	e.PortalSessions = record.New[sluice.PortalSession](h, stream.PortalSessions)
	e.Minutes = record.New[sluice.Minute](h, stream.Minutes)
	e.Hours = record.New[sluice.Minute](h, stream.Hours)
	e.Pipelines = record.New[sluice.Pipeline](h, stream.Pipelines)
	e.PipelineStates = record.New[sluice.PipelineState](h, stream.PipelineStates)
	e.Versions = record.New[sluice.PipelineHistory](h, stream.Versions)
	e.Secrets = record.New[sluice.Secret](h, stream.Secrets)
	e.keys = record.New[record.Key](h, stream.Keys)
}

// stored is told of each event that is on stable storage.
func (e *Engine) stored(sequence uint64, subject string, event *sluice.Event) {
	e.Journal.Stored(sequence, subject, event)
	e.once.Stored(sequence, event)
}

// finish stores what would be lost with the process.
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

// Close stops the engine. What was acknowledged is safe without it.
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
