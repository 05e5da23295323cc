package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
)

// SyncMode says who makes the embedded engine's writes durable. Only
// benchmarks and torture tests use another one than GroupCommit, to compare.
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

	EventMaxAge   time.Duration
	EventMaxBytes int64 // 0: half of the volume (embedded), unlimited (external)
	MinFreeDisk   int64
	ResultTTL     time.Duration

	ResultMaxCount int64 // results that are kept
	ResultMaxBytes int64

	Sync SyncMode
	Log  *slog.Logger

	// ObserveBatch, if set, gives what is told of the batches of a stream
	// that were written and synced.
	ObserveBatch func(stream string) func(messages int, took time.Duration)
}

// maxMessage is the largest message the engine must take: a payload of 4 MiB
// is 5.6 MB in base64, and its headers come on top.
const maxMessage = 8 << 20

// setupTimeout bounds one attempt to prepare streams and buckets.
const setupTimeout = 30 * time.Second

// An Engine stores events, webhooks and accounts.
type Engine struct {
	opts   Options
	log    *slog.Logger
	server *server.Server // nil with an external engine
	nc     *nats.Conn
	js     jetstream.JetStream
	side   *nats.Conn // for what must not hold up calls; embedded, it is a connection of its own

	webhooks *bucket[sluice.Webhook]
	accounts *bucket[sluice.Account]
	roles    *bucket[sluice.Role]
	clients  *bucket[sluice.Client]
	sessions *bucket[sluice.Session]
	signing  *bucket[sluice.SigningKey]
	portal   *bucket[sluice.PortalSession]
	minutes  *bucket[sluice.Minute]

	pipelines *bucket[sluice.Pipeline]
	secrets   *bucket[sluice.Secret]
	floors    *bucket[floor]

	events  *Events
	queue   *Queue
	letters *Letters
	audit   *Audit
	hooks   *Webhooks
	journal *Journal

	cancel  context.CancelFunc
	closing sync.Once
	running sync.WaitGroup

	ready   chan struct{} // closed once set up
	problem atomic.Value  // string: why it is not set up yet
	lowDisk atomic.Bool

	failOnce sync.Once
	failed   chan struct{} // closed when it can't go on
	failure  error
}

// Open starts the embedded engine, or connects to an external one. An external
// engine that can't be used yet is not an error: Ready tells why, and Open's
// engine keeps trying.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := &Engine{
		opts:   opts,
		log:    opts.Log,
		cancel: cancel,
		ready:  make(chan struct{}),
		failed: make(chan struct{}),
	}
	e.problem.Store("the engine is starting")
	e.webhooks = newBucket[sluice.Webhook](e, "webhooks")
	e.accounts = newBucket[sluice.Account](e, "accounts")
	e.roles = newBucket[sluice.Role](e, "roles")
	e.clients = newBucket[sluice.Client](e, "clients")
	e.sessions = newBucket[sluice.Session](e, "sessions")
	e.signing = newBucket[sluice.SigningKey](e, "signing")
	e.portal = newBucket[sluice.PortalSession](e, "portal")
	e.minutes = newBucket[sluice.Minute](e, "minutes")
	e.pipelines = newBucket[sluice.Pipeline](e, "pipelines")
	e.secrets = newBucket[sluice.Secret](e, "secrets")
	e.floors = newBucket[floor](e, "floors")
	e.hooks = newWebhooks(e.webhooks)
	e.events = newEvents(e)
	e.queue = &Queue{
		engine: e,
		work:   &inProgress{msgs: make(map[jetstream.Msg]time.Time)},
		crew:   &crew{start: e.start, done: running.Done(), work: make(chan func())},
	}
	e.letters = &Letters{engine: e}
	e.audit = &Audit{engine: e}
	e.journal = newJournal(e)
	if err := e.connect(); err != nil {
		e.Close()
		return nil, err
	}
	if e.server == nil {
		e.start(func() { e.setUpUntilDone(running) })
		return e, nil
	}
	if err := e.setUp(ctx, running); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) connect() (err error) {
	if e.opts.URL == "" {
		e.server, e.nc, err = startEmbedded(e.opts)
	} else {
		e.nc, err = connectExternal(e.opts)
	}
	if err != nil {
		return err
	}
	e.side = e.nc
	if e.server != nil {
		if e.side, err = connectEmbedded(e.server); err != nil {
			return err
		}
	}
	e.js, err = jetstream.New(e.nc)
	return err
}

// setUpUntilDone tries to set up an external engine until it works.
func (e *Engine) setUpUntilDone(ctx context.Context) {
	const pause = 500 * time.Millisecond
	logged := ""
	for {
		err := e.setUp(ctx, ctx)
		if err == nil {
			return
		}
		if reason := explain(err, e.nc); reason != logged {
			e.problem.Store(reason)
			e.log.Error("The external engine can't be used yet; trying on.", "reason", reason, "error", err)
			logged = reason
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// setUp prepares streams and buckets, and starts what runs as long as running
// lasts. What a failed attempt has started, it stops.
func (e *Engine) setUp(ctx, running context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	running, stop := context.WithCancel(running)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	if err := checkExternal(ctx, e); err != nil {
		return err
	}
	key, err := e.correlationKey(ctx)
	if err != nil {
		return fmt.Errorf("key of the correlation ids: %w", err)
	}
	if err := e.events.setUp(ctx, running, correlator{key}); err != nil {
		return fmt.Errorf("stream of events: %w", err)
	}
	if err := e.journal.setUp(ctx, correlator{key}, e.events.stream.CachedInfo().Config); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := e.letters.setUp(ctx, running); err != nil {
		return fmt.Errorf("dead letters: %w", err)
	}
	if err := e.audit.setUp(ctx, running); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	for _, b := range []interface {
		setUp(ctx, running context.Context) error
	}{e.webhooks, e.accounts, e.roles, e.clients, e.sessions, e.signing, e.portal, e.minutes, e.pipelines, e.secrets, e.floors} {
		if err := b.setUp(ctx, running); err != nil {
			return err
		}
	}
	if err := e.events.checkEnd(ctx); err != nil {
		return fmt.Errorf("end of the stream of events: %w", err)
	}
	if err := e.queue.dropUnbound(ctx); err != nil {
		return fmt.Errorf("bindings of pipelines: %w", err)
	}
	// The definitions of streams and buckets, and what an earlier process
	// wrote before it was killed, must not vanish either.
	if err := e.syncStore(); err != nil {
		return err
	}
	e.start(func() { e.queue.work.beat(running) })
	e.start(func() { e.queue.keepFloors(running) })
	e.start(func() { e.events.trim(running) })
	e.start(func() { e.journal.run(running) })
	if e.server != nil {
		e.checkDisk()
		e.start(func() { e.watchDisk(running) })
	}
	if e.webhooks.count() > manyRecords {
		debug.FreeOSMemory() // filling the copies leaves garbage several times their size
	}
	close(e.ready)
	return nil
}

// manyRecords is how many of one bucket make it worth while to clean up behind
// them: that takes longer than all the rest of an empty start.
const manyRecords = 1000

// every does something again and again, until ctx ends.
func every(ctx context.Context, interval time.Duration, do func(now time.Time)) {
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
}

// start runs a function that Close waits for.
func (e *Engine) start(run func()) {
	e.running.Go(run)
}

// syncs tells whether writes are to be synced by us.
func (e *Engine) syncs() bool {
	return e.server != nil && (e.opts.Sync == GroupCommit || e.opts.Sync == NoResultSync)
}

// syncStore puts all that was written so far to a folder of the embedded
// engine's store on stable storage, with the names of the folder and of those
// it is in.
func (e *Engine) syncStore(folders ...string) error {
	if !e.syncs() {
		return nil
	}
	folder := e.opts.Dir
	var err error
	for _, below := range folders {
		err = errors.Join(err, durable.Sync(folder))
		folder = filepath.Join(folder, below)
	}
	if err = errors.Join(err, durable.SyncTree(folder)); err != nil {
		e.fail(fmt.Errorf("sync of the store: %w", err))
		return unavailable("engine-failed", "The change could not be made durable.").Because(err)
	}
	return nil
}

// syncStream puts a folder of one of the embedded engine's streams on stable
// storage.
func (e *Engine) syncStream(stream string, below ...string) error {
	return e.syncStore(append([]string{"jetstream", "$G", "streams", stream}, below...)...)
}

// blocksOf gives the message blocks of one of the embedded engine's streams.
func (e *Engine) blocksOf(stream string) *durable.Blocks {
	return &durable.Blocks{Dir: filepath.Join(e.opts.Dir, "jetstream", "$G", "streams", stream, "msgs")}
}

// SetUp is closed once streams and buckets are there.
func (e *Engine) SetUp() <-chan struct{} { return e.ready }

// Describe says in a few words what kind of engine this is.
func (e *Engine) Describe() string {
	if e.server != nil {
		return "embedded"
	}
	return fmt.Sprintf("external, %d replicas", e.opts.Replicas)
}

// Close stops the engine. What was acknowledged needs no closing to be safe.
func (e *Engine) Close() {
	e.closing.Do(e.journal.finish)
	e.cancel()
	if e.nc != nil {
		e.nc.Close()
	}
	if e.side != nil {
		e.side.Close()
	}
	e.running.Wait()
	if e.server != nil {
		stopEmbedded(e.server)
	}
}
