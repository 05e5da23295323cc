package jetstream

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/correlation"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/journal"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/queue"
	"sluice/jetstream/record"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
	"sluice/seal"
)

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
	if opts.URL != "" {
		e.startSpool(ctx)
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
	e.Webhooks.Follow(e.keepers.follow)
	hub, listeners := queue.NewHub(), queue.NewListeners(e.Pipelines)
	e.outcomes = queue.NewOutcomes(h, hub, queue.Retention{Age: opts.ResultTTL, MaxCount: opts.ResultMaxCount, MaxBytes: opts.ResultMaxBytes})
	e.DeadLetters = deadletter.NewStore(h)
	e.waiting = queue.NewWaiting(h)
	e.lowWater = queue.NewLowWater(h, listeners)
	e.Journal = journal.New(h, journal.Events{
		MaxAge: opts.EventMaxAge, ResultAge: opts.ResultTTL, Recovered: e.ended, Bound: listeners.Bound, Takers: listeners.Takers, Waits: e.waiting.Waits, Erased: e.Erasures.has, Forgotten: e.forgotten.has,
		Retries: func(ctx context.Context, env correlation.Envelope, pipeline string) (bool, time.Time, error) {
			return e.Queue.Retries(ctx, env, pipeline)
		},
		Outcome: func(ctx context.Context, env correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
			return e.Queue.Outcome(ctx, env, pipeline)
		},
	})
	e.Queue = queue.New(h, queue.Options{
		Listeners: listeners, LowWater: e.lowWater, Outcomes: e.outcomes, DeadLetters: e.DeadLetters, Waiting: e.waiting,
		Settled: e.settled, Ended: e.ended, RunMemory: opts.RunMemory, AckWait: opts.AckWait,
	})
	e.Stored = &Events{
		host: h, listeners: listeners, lowWater: e.lowWater, queue: e.Queue, hub: hub, outcomes: e.outcomes, space: newSpace(), stored: e.stored,
		keep: retention{age: opts.EventMaxAge, maxBytes: opts.EventMaxBytes, resultAge: opts.ResultTTL},
	}
	e.Stored.mark, e.Stored.fit, e.Stored.forgotten = e.losses.write, e.server.fit, e.forgotten.has
	e.once = e.server.once(e.Stored)
	e.Events, e.Results = e.once, e.Stored
	e.Audit = &Audit{host: h}
	e.nodes = &nodes{host: h, self: node{rand.Text(), opts.Version, durable.Format}, others: make(map[string]seenNode), told: make(map[string]bool)}
	e.replicas = &replicas{host: h, ours: e.owns}
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
	e.Alerts = record.New[sluice.AlertRecord](h, stream.Alerts)
	e.Closed = record.New[sluice.ClosedRecord](h, stream.Closed)
	e.Certificates = record.New[sluice.CertificateRecord](h, stream.Certificates)
	e.Missed = record.New[sluice.MissedRun](h, stream.Missed)
	e.Versions = record.New[sluice.PipelineHistory](h, stream.Versions)
	e.Secrets = record.New[sluice.Secret](h, stream.Secrets)
	e.Erasures = &erasures{e, record.New[sluice.Erasure](h, stream.Erasures)}
	e.forgotten = forgottenSet{record.New[forgotten](h, stream.Forgotten)}
	e.keys = record.New[record.Key](h, stream.Keys)
	e.records = &record.Budget{Max: e.opts.RecordMemory}
	for _, bucket := range []interface{ Within(b *record.Budget) }{e.Webhooks, e.Accounts, e.Roles, e.Clients, e.Pipelines, e.Versions, e.Secrets} {
		bucket.Within(e.records)
	}
}

// startSpool opens the spool if one is configured. If it fails, the node serves without, and
// warns the operator.
func (e *Engine) startSpool(ctx context.Context) {
	if e.opts.SpoolDir == "" {
		return
	}
	var err error
	if e.spool, err = openSpool(ctx, e.opts); err != nil {
		e.spool = nil
		e.host.Log.Error("There is no spool: calls are refused while the engine is away.", "error", err)
		e.spoolProblem = "there is no spool, so calls are refused while the engine is away; the log has the cause"
		return
	}
	e.fallback = &spool.Fallback{
		Spool: e.spool.Spool, Events: e.once, Results: e.Stored, Host: e.host, Address: e.Stored.address, Encode: encode,
	}
	e.Events, e.Results = e.fallback, e.fallback
}

// OpenRecords opens only the records and the audit log, while nobody else uses the engine:
// no stream gets other limits, and no pipeline runs.
func OpenRecords(ctx context.Context, opts Options) (*Engine, error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := build(opts)
	e.cancel = cancel
	if err := e.setUpRecords(ctx, running); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) setUpRecords(ctx, running context.Context) error {
	if err := e.reach(ctx); err != nil {
		return err
	}
	generation, err := e.generation(ctx)
	if err != nil {
		return err
	}
	for _, b := range e.buckets() {
		if err := b.SetUp(ctx, running, generation); err != nil {
			return err
		}
	}
	if err := e.Audit.setUp(ctx, running); err != nil {
		return err
	}
	e.closing.Do(func() {}) // there is nothing to finish
	e.host.SetReady()
	return nil
}

// reach connects and waits until the server can be used, or returns why it can't.
func (e *Engine) reach(ctx context.Context) error {
	const patience, pause = 10 * time.Second, 200 * time.Millisecond
	err := e.server.connect()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; {
		if err = e.server.usable(ctx); err == nil || time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	if err != nil {
		return sluice.Errorf(sluice.CodeEngineUnavailable, "It can't be restored: %s.", explain(err, e.host.Conn)).Because(err)
	}
	return nil
}

// moveTimeout bounds how long Rekey may take.
const moveTimeout = 10 * time.Minute

// Rekey seals all records with a new key, while nobody uses the engine. If it is
// interrupted, the engine opens with the old key or with the new one, and another call
// finishes the work.
func Rekey(ctx context.Context, opts Options, box *seal.Box, progress func(step string)) error {
	e := build(opts)
	ctx, e.cancel = context.WithTimeout(ctx, moveTimeout)
	defer e.Close()
	if err := e.server.connect(); err != nil {
		return err
	}
	if err := e.server.usable(ctx); err != nil {
		return err
	}
	if opts.URL != "" {
		if err := e.keepSpoolKey(ctx); err != nil {
			return err
		}
	}
	if err := e.generations(progress).Rekey(ctx, box); err != nil {
		return err
	}
	return e.losses.forget()
}

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

	SealEvents bool // new events, results, dead letters and what is known of runs

	RunMemory      int64 // bytes that the events of all runs take in memory; 0: no bound
	RecordMemory   int64 // bytes of the records that users store; 0: any number
	DeliveryMemory int64 // bytes that delivery ids take in memory; 0: only their number is bounded

	AckWait time.Duration // how long an event may go without a sign of life before it is delivered again; 0: 4 seconds
	Version string        // of the program

	Sync SyncMode
	Log  *slog.Logger

	// ObserveEnd, if set, is called when all pipelines of a call are done with it.
	ObserveEnd func(sluice.CallEnd)

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
		return name != stream.Results
	default:
		return false
	}
}
