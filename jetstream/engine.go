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

// SyncMode says who makes the embedded engine's writes durable. Only benchmarks and torture
// tests use another mode than GroupCommit.
type SyncMode int

// The sync modes.
const (
	GroupCommit  SyncMode = iota // one sync for all waiting calls
	EngineSync                   // the engine syncs each message by itself
	NoSync                       // nobody syncs: a power cut loses events
	NoResultSync                 // one sync for all waiting calls, none for results
)

// Options configure an engine.
type Options struct {
	Dir         string // folder of the embedded engine's store
	URL         string // external engine; empty means embedded
	Credentials string // file with credentials for the external engine
	Replicas    int    // of each stream on the external engine
	SyncsAlways bool   // the operator says that the external engine syncs each message

	SpoolDir      string // folder of the spool beside an external engine; "": no spool
	SpoolMaxBytes int64

	EventMaxAge   time.Duration
	EventMaxBytes int64 // 0: half of the volume (embedded), unlimited (external)
	MinFreeDisk   int64
	ResultTTL     time.Duration

	ResultMaxCount int64 // results that are kept
	ResultMaxBytes int64

	// Box returns the cipher that seals records. If sealed is true, there are sealed
	// records, and only their key will do.
	Box func(sealed bool) (*seal.Box, error)

	// Begin, if set, is called before anything is stored in this version's format.
	Begin func() error

	RunMemory      int64 // bytes that the events of all runs take in memory; 0: no bound
	DeliveryMemory int64 // bytes that delivery ids take in memory; 0: only their number is bounded

	Version string // of the program

	Sync SyncMode
	Log  *slog.Logger

	// ObserveFailed, if set, is called for each event that a pipeline failed on for
	// good.
	ObserveFailed func(eventKey string)

	// ObserveBatch, if set, returns a function to call for each batch of a stream that
	// was written and synced.
	ObserveBatch func(stream string) func(messages int, took time.Duration)
}

// syncs reports whether we sync writes to a stream of the embedded engine.
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

// maxMessage is the largest message that the engine must take: a payload of 4 MiB is 5.6 MB
// in base64, plus its headers.
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

	watermarks watermarks // as they were last written
	keyPrint   string     // of the key of the correlation ids
	sealed     []byte     // which generation of the buckets counts

	damageMu sync.Mutex
	damage   []string // what the disk has lost or spoiled

	cancel  context.CancelFunc
	closing sync.Once
	backing sync.Mutex // held while a backup is made
}

// Open starts the embedded engine, or connects to an external one. If an external engine
// can't be used yet, that is not an error: Ready says why, and the Engine keeps trying.
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
	e.buildRecords()
	hub, listeners := queue.NewHub(), queue.NewListeners(e.Pipelines)
	e.outcomes = queue.NewOutcomes(h, hub, queue.Retention{Age: opts.ResultTTL, MaxCount: opts.ResultMaxCount, MaxBytes: opts.ResultMaxBytes})
	e.DeadLetters = deadletter.NewStore(h)
	e.waiting = queue.NewWaiting(h)
	e.lowWater = queue.NewLowWater(h, listeners)
	e.Journal = journal.New(h, journal.Events{
		MaxAge: opts.EventMaxAge, ResultAge: opts.ResultTTL, Bound: listeners.Bound, Takers: listeners.Takers, Waits: e.waiting.Waits,
		Retries: func(ctx context.Context, env correlation.Envelope, pipeline string) (bool, time.Time, error) {
			return e.Queue.Retries(ctx, env, pipeline)
		},
		Outcome: func(ctx context.Context, env correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
			return e.Queue.Outcome(ctx, env, pipeline)
		},
	})
	e.Queue = queue.New(h, queue.Options{
		Listeners: listeners, LowWater: e.lowWater, Outcomes: e.outcomes, DeadLetters: e.DeadLetters, Waiting: e.waiting,
		Settled: e.Journal.Settled, Failed: opts.ObserveFailed, RunMemory: opts.RunMemory,
	})
	e.Stored = &Events{
		host: h, listeners: listeners, lowWater: e.lowWater, queue: e.Queue, hub: hub, outcomes: e.outcomes, space: newSpace(), stored: e.stored,
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

// stored is called for each event on stable storage.
func (e *Engine) stored(sequence uint64, subject string, event *sluice.Event) {
	e.Journal.Stored(sequence, subject, event)
	e.once.Stored(sequence, event)
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
