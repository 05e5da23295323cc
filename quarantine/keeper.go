package quarantine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"sluice"
	"sluice/limit"
	"sluice/stretch"
)

// Bounds of what waits to be stored, and of how often calls of one webhook are kept: a
// wave of forged calls must not take the server's time, nor the slots of other webhooks.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 32 << 20
	maxOfOne        = maxWaiting / 4
	maxBytesOfOne   = maxWaitingBytes / 2
	keptPerSecond   = 50
	keptAtOnce      = 1000
	diagnosedEach   = 20 // a second, of all
	storeTimeout    = 5 * time.Second
)

// Options are what a keeper is made of.
type Options struct {
	Store    sluice.QuarantineStore
	Receiver Receiver
	Log      *slog.Logger

	// Seen is called when a user sees payloads.
	Seen func(ctx context.Context, command, target string)
}

// Receiver is the part of a receive.Receiver that the quarantine needs.
type Receiver interface {
	// Diagnose says, for the operator, why a call was rejected.
	Diagnose(ctx context.Context, c *sluice.QuarantinedCall) []string

	// Show returns a request without its secrets.
	Show(ctx context.Context, c *sluice.QuarantinedCall) (headers map[string]string, query map[string][]string,
		body []byte)

	// Admit takes in a call. It is checked by what its webhook demands now, or not at
	// all with force. Errors say why it is rejected again.
	Admit(ctx context.Context, c *sluice.QuarantinedCall, force bool) (sluice.Result, error)
}

// A Keeper takes over rejected calls and stores them in the background.
type Keeper struct {
	Options

	waiting  chan taken
	stopped  chan struct{}
	diagnose *rate.Limiter
	limits   *limit.Tries // by token
	missed   atomic.Int64 // calls that are not kept

	mu      sync.Mutex
	kept    int            // calls so far
	handled int            // how many of them are stored or lost
	moved   chan struct{}  // closed and replaced whenever one is handled
	bytes   int            // of the calls that wait
	of      map[string]use // what waits, by token
}

// Missed returns how many calls were not kept, since the start: there were too many, or
// they could not be stored.
func (k *Keeper) Missed() int64 { return k.missed.Load() }

// Keep takes over a call of a webhook, if there is room for its bytes. It never waits.
func (k *Keeper) Keep(token string, size int, call func() *sluice.QuarantinedCall) bool {
	if !k.take(token, size) {
		k.missed.Add(1)
		return false
	}
	k.waiting <- taken{call(), size} // there is a slot for it
	return true
}

// take reserves a slot for a call.
func (k *Keeper) take(token string, size int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	used := k.of[token]
	if k.kept-k.handled >= maxWaiting || used.calls >= maxOfOne || k.bytes+size > maxWaitingBytes ||
		used.bytes+size > maxBytesOfOne {
		return false
	}
	if k.limits.Try(token) > 0 {
		return false
	}
	k.kept++
	k.bytes += size
	k.of[token] = use{used.calls + 1, used.bytes + size}
	return true
}

func (k *Keeper) release(token string, size int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.handled++
	close(k.moved)
	k.moved = make(chan struct{})
	k.bytes -= size
	used := k.of[token]
	if used.calls == 1 {
		delete(k.of, token)
		return
	}
	k.of[token] = use{used.calls - 1, used.bytes - size}
}

// Run stores calls until ctx ends, and then those that still wait, within a time-out.
func (k *Keeper) Run(ctx context.Context) {
	defer close(k.stopped)
	for {
		select {
		case c := <-k.waiting:
			k.handle(context.WithoutCancel(ctx), c)
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stretch.Of(storeTimeout))
			defer cancel()
			for {
				select {
				case c := <-k.waiting:
					k.handle(ctx, c)
				default:
					return
				}
			}
		}
	}
}

func (k *Keeper) handle(ctx context.Context, t taken) {
	c := t.call
	defer k.release(c.Token, t.size)
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(storeTimeout))
	defer cancel()
	c.Diagnosis = []string{"Too many calls were refused at that moment to look into each of them."}
	if k.diagnose.Allow() {
		c.Diagnosis = k.Receiver.Diagnose(ctx, c)
	}
	if err := k.Store.Put(ctx, c); err != nil {
		k.missed.Add(1)
		k.Log.Warn("A rejected call could not be kept.", "traceId", c.ID, "error", err)
	}
}

// settle waits until all calls that were kept before are stored, within a time-out.
func (k *Keeper) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(storeTimeout))
	defer cancel()
	k.mu.Lock()
	target := k.kept
	for k.handled < target {
		moved := k.moved
		k.mu.Unlock()
		select {
		case <-moved:
		case <-k.stopped:
			return
		case <-ctx.Done():
			return
		}
		k.mu.Lock()
	}
	k.mu.Unlock()
}

type use struct{ calls, bytes int }

// A taken call waits to be stored, with the bytes that were reserved for it.
type taken struct {
	call *sluice.QuarantinedCall
	size int
}

// NewKeeper returns a keeper. Nothing is stored until Run runs.
func NewKeeper(o Options) *Keeper {
	return &Keeper{
		Options: o, waiting: make(chan taken, maxWaiting), stopped: make(chan struct{}),
		moved:    make(chan struct{}),
		diagnose: rate.NewLimiter(diagnosedEach, 10*diagnosedEach),
		of:       make(map[string]use), limits: limit.NewTries(keptAtOnce, time.Second/keptPerSecond),
	}
}
