// Package queue hands stored events to the pipelines that listen to them, and
// keeps what came of it.
//
// Read downward, as an event travels. listeners.go says which pipelines listen to it;
// queue.go binds a pipeline to the stream of events. A delivery (delivery.go) comes
// from one of two sources: the pipeline's consumer (live.go) or, for an event that has
// waited, the waiting room (waited.go, on waiting.go and its index, line.go). All
// deliveries go the same way (consumption.go): they take a slot (slots.go) and memory
// (memory.go), run the pipeline, and have the outcome stored (outcomes.go) before their
// source is told. hub.go wakes the callers who wait for the outcome, here and on other
// nodes. progress.go and low_water.go tell how far pipelines are.
//
// How many runs go on at the same time is explained in the root package
// (bounds.go). Storing events is package jetstream's business, running pipelines
// package pipeline's.
package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/stream"
	"sluice/limit"
)

// consumeRetry is the pause before a failed consumer or delivery is tried again.
const consumeRetry = 500 * time.Millisecond

// Options are the parts of a queue.
type Options struct {
	Listeners   *Listeners
	LowWater    *LowWater
	Outcomes    *Outcomes
	DeadLetters *deadletter.Store
	Waiting     *Waiting

	// Settled is called with each final outcome; first is the correlation id of the
	// event that a replay repeats. Ended is called when all pipelines of a call are done
	// with it.
	Settled func(sequence uint64, traceID, first string, o sluice.Outcome)
	Ended   func(sluice.CallEnd)

	// RunMemory bounds the memory of the events of all runs; 0: no bound.
	RunMemory int64

	// AckWait is how long an event may go without a heartbeat, as after a crash, before
	// it is delivered again; 0: 4 seconds.
	AckWait time.Duration
}

// A Queue implements sluice.Queue: a binding is a durable consumer of the stream
// of events.
type Queue struct {
	host        *stream.Host
	listeners   *Listeners
	lowWater    *LowWater
	outcomes    *Outcomes
	deadLetters *deadletter.Store
	waiting     *Waiting
	settled     func(sequence uint64, traceID, first string, o sluice.Outcome)
	ended       func(sluice.CallEnd)
	memory      *memory
	ackWait     time.Duration

	ids    correlation.IDs
	events jetstream.Stream

	unreadable atomic.Int64 // events that could not be read, since the start
	unlettered sync.Map     // subjects of stored failures whose dead letter is under way

	progress *limit.Cache[string, *jetstream.ConsumerInfo] // by binding
	work     *inProgress
	crew     *crew
}

// New returns a queue. SetUp comes next.
func New(h *stream.Host, o Options) *Queue {
	return &Queue{
		host: h, listeners: o.Listeners, lowWater: o.LowWater, outcomes: o.Outcomes, deadLetters: o.DeadLetters, waiting: o.Waiting,
		settled: o.Settled, ended: o.Ended, memory: newMemory(o.RunMemory), ackWait: cmp.Or(o.AckWait, ackWait),
		progress: limit.NewCache[string, *jetstream.ConsumerInfo](maxProgress),
		work:     &inProgress{deliveries: make(map[liveKey]*live)},
	}
}

// SetUp connects the queue to the stream of events.
func (q *Queue) SetUp(ids correlation.IDs, events jetstream.Stream) {
	q.ids, q.events = ids, events
	q.lowWater.states = q.states
}

// Start begins the regular work, until running ends. Events can be consumed from then
// on.
func (q *Queue) Start(running context.Context) {
	q.crew = &crew{start: q.host.Start, done: running.Done(), work: make(chan func())}
	q.host.Every(running, heartbeat, q.work.beat)
	q.lowWater.keep(running)
	q.host.Every(running, time.Minute, func(time.Time) {
		if err := q.Sweep(running); err != nil && running.Err() == nil && q.host.Ready() == nil {
			q.host.Log.Warn("Events that wait for pipelines that no longer listen could not be removed.", "error", err)
		}
	})
}

// Unreadable returns how many events could not be read, since the start.
func (q *Queue) Unreadable() int64 { return q.unreadable.Load() }

// Bind implements sluice.Queue.
func (q *Queue) Bind(ctx context.Context, pattern string, concurrency int) (*sluice.Binding, error) {
	if err := q.host.Ready(); err != nil {
		return nil, err
	}
	info, err := q.events.Info(ctx)
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	// A sequence, never "from now on": if the engine loses the consumer's state, events
	// come twice instead of not at all.
	b := &sluice.Binding{
		ID:          strings.ToLower(rand.Text()),
		Pattern:     pattern,
		Concurrency: concurrency,
		Start:       info.State.LastSeq + 1,
	}
	if _, err := q.consumer(ctx, b); err != nil {
		return nil, stream.NotTaken("the binding", err)
	}
	return b, q.syncBinding(b)
}

// Unbind implements sluice.Queue.
func (q *Queue) Unbind(ctx context.Context, b *sluice.Binding) error {
	err := q.events.DeleteConsumer(ctx, b.ID)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not end the binding.").Because(err)
	}
	q.waiting.dropAll(ctx, b.ID)
	if err := q.lowWater.drop(ctx, b.ID); err != nil {
		return err
	}
	return q.syncBinding(b)
}

// syncBinding makes the creation or deletion of a binding durable.
func (q *Queue) syncBinding(b *sluice.Binding) error {
	return q.host.SyncStream(q.events.CachedInfo().Config.Name, "obs", b.ID)
}

// Consume implements sluice.Queue.
func (q *Queue) Consume(ctx context.Context, p *sluice.Pipeline, run func(sluice.Delivery) (sluice.Outcome, error)) {
	c := &consumption{
		queue:    q,
		pipeline: p.Name,
		binding:  p.Binding.ID,
		run:      run,
		slots:    newSlots(p.Binding.Concurrency, p.Binding.Rate),
		ordered:  p.Binding.Concurrency == 1,
		bytes:    semaphore.NewWeighted(sluice.MaxRunBytes),
		taken:    make(chan struct{}, sluice.Deliveries(p.Binding.Concurrency)),
	}
	defer c.deliveries.Wait()
	c.deliveries.Go(func() { c.followWaiting(ctx) })
	for {
		err := c.follow(ctx, p.Binding)
		if ctx.Err() != nil {
			return
		}
		q.host.Log.Warn("A pipeline gets no events at the moment; trying on.", "pipeline", p.Name, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(consumeRetry):
		}
	}
}

// DropUnbound deletes consumers without a pipeline: a process may have ended after it
// stored a binding, and before it stored the pipeline.
func (q *Queue) DropUnbound(ctx context.Context) error {
	const settled = 10 * time.Minute // another node may be about to store its pipeline
	bound := q.listeners.Bound()
	consumers := q.events.ListConsumers(ctx)
	for info := range consumers.Info() {
		if bound[info.Name] != nil || !q.host.SoleWriter && time.Since(info.Created) < settled {
			continue
		}
		if err := q.events.DeleteConsumer(ctx, info.Name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
	}
	if err := consumers.Err(); err != nil {
		return err
	}
	stored, err := q.waiting.stored(ctx)
	if err != nil {
		return err
	}
	return q.sweep(ctx, stored)
}

// Sweep removes events that wait for pipelines that no longer listen, as far as the
// index knows.
func (q *Queue) Sweep(ctx context.Context) error { return q.sweep(ctx, q.waiting.known()) }

// sweep removes what waits for those of the bindings that no longer exist. A node may have
// ended before it removed that, or a run may have ended later.
//
// Something waits for these bindings, so they had a consumer and a pipeline; neither is
// ever made again under the same id. If both are gone, as the leaders say, nobody needs
// what waits. If only one is gone, a node may be about to store or remove the other.
func (q *Queue) sweep(ctx context.Context, bindings map[string]bool) error {
	for binding := range q.listeners.Bound() {
		delete(bindings, binding)
	}
	for binding := range bindings {
		_, err := q.events.Consumer(ctx, binding)
		switch {
		case err == nil:
			delete(bindings, binding)
		case !errors.Is(err, jetstream.ErrConsumerNotFound):
			return err
		}
	}
	if len(bindings) == 0 {
		return nil
	}
	if err := q.listeners.pipelines.CatchUp(ctx); err != nil {
		return err
	}
	bound := q.listeners.Bound()
	for binding := range bindings {
		if bound[binding] == nil {
			q.waiting.dropAll(ctx, binding)
		}
	}
	return nil
}
