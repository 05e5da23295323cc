// Package queue hands stored events to the pipelines that listen to them, and
// keeps what came of it.
//
// Read downward, as an event travels. listeners.go says which pipelines listen to it;
// binding.go binds a pipeline to the stream of events. A delivery (delivery.go) comes from
// one of two sources: the pipeline's consumer (consumer.go, live.go) or, for an event that
// has waited, the waiting room (waited.go, on waiting.go and its index, line.go). All
// deliveries go the same way (consumption.go, attempt.go): they take a slot
// (slots.go) and memory (memory.go), run the pipeline, and have the outcome stored
// (outcomes.go) before their source hears of it. hub.go wakes the callers who wait for the
// outcome, notices.go those on other nodes. progress.go and low_water.go say how far
// pipelines are; retry.go tries now what waits.
//
// # What an event waits for
//
// An event that waits has a state, which is durable (state.go), and an entry in the line of its
// pipeline, which is in memory (line.go). Line.pick is the one place that decides what is due:
//
//	a time     Due, the next attempt: the line is ordered by it
//	a target   Target: tried before it is due, when the target is back (target.go)
//	its turn   Order: those before it with the same value are not done (turns.go)
//	another    Group: one that follows would run in its place (groups.go)
//	an answer  Answer: until it is released, or due (release.go)
//
// Only the first two are about failures; what waits for the others is processing, not retrying.
// An event that keeps its place with the consumer (concurrency 1) waits by clock.go's hold.
//
// How many runs go on at the same time is explained in the root package, at
// sluice.Deliveries. Storing events is package jetstream's business, running pipelines
// package pipeline's.
package queue

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/deadletter"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
	"sluice/limit"
	"sluice/wait"
)

// consumeRetry is the pause before a failed consumer or delivery is tried again.
const consumeRetry = 500 * time.Millisecond

// Options configure a queue.
type Options struct {
	DeadLetters *deadletter.Store
	Keep        Retention // of outcomes

	// Settled is called with each final outcome. Ended is called when all pipelines of a call are
	// done with it, and have sent nothing.
	Settled func(Settled)
	Ended   func(sluice.CallEnd)

	// RunMemory bounds the memory of the events of all runs; 0: no bound.
	RunMemory int64
	// WaitingMemory bounds what is known in memory of events that wait; 0: no bound.
	WaitingMemory int64

	// AckWait is how long an event may go without a heartbeat, as after a crash, before
	// it is delivered again; 0: 4 seconds.
	AckWait time.Duration
}

// Settled says with which outcome a pipeline is done with an event.
type Settled struct {
	Sequence uint64
	TraceID  string
	First    string // of a replay: correlation id of the event that it repeats
	Origin   string // correlation id of the event that has set it off, or its own
	Replay   bool   // a replay has
	Decides  bool   // nobody else tells what became of the call
	Outcome  sluice.Outcome
}

// A Queue implements sluice.Queue: a binding is a durable consumer of the stream
// of events.
type Queue struct {
	Options

	Listeners *Listeners
	LowWater  *LowWater
	Hub       *Hub
	Outcomes  *Outcomes
	Waiting   *Waiting

	host   *stream.Host
	memory *memory
	ids    correlation.IDs
	events jetstream.Stream
	last   uint64 // of the events, at the start

	unreadable atomic.Int64 // events that could not be read, since the start
	unlettered sync.Map     // subjects of stored failures whose dead letter is under way
	begun      sync.Map     // bindings whose consumer this process has followed

	progress *limit.Cache[string, *jetstream.ConsumerInfo] // by binding
	work     *inProgress
	crew     *crew
}

// New returns a queue for the stored pipelines. The parts that store something need a SetUp of
// their own; that of the queue comes next.
func New(h *stream.Host, pipelines *record.Bucket[sluice.Pipeline], o Options) *Queue {
	o.AckWait = cmp.Or(o.AckWait, ackWait)
	hub, listeners := NewHub(), NewListeners(pipelines)
	q := &Queue{
		Options: o, Listeners: listeners, LowWater: NewLowWater(h, listeners), Hub: hub,
		Outcomes: NewOutcomes(h, hub, o.Keep), Waiting: NewWaiting(h, o.WaitingMemory),
		host: h, memory: newMemory(o.RunMemory),
		progress: limit.NewCache[string, *jetstream.ConsumerInfo](maxProgress),
		work:     newInProgress(),
	}
	q.Waiting.Work.settled = q.workDone
	return q
}

// SetUp connects the queue to the stream of events.
func (q *Queue) SetUp(ids correlation.IDs, events jetstream.Stream) {
	q.ids, q.events, q.last = ids, events, events.CachedInfo().State.LastSeq
	q.Waiting.ids, q.Waiting.events = ids, events
	q.LowWater.states = q.states
}

// Start begins the regular work, until running ends. Events can be consumed from then
// on.
func (q *Queue) Start(running context.Context) {
	q.crew = &crew{start: q.host.Start, done: running.Done(), work: make(chan func())}
	q.host.Every(running, heartbeat, q.work.beat)
	q.host.TryEvery(running, lowWaterEvery, "How far pipelines are could not be written down.", q.LowWater.Write)
	q.host.TryEvery(running, time.Minute,
		"Events that wait for pipelines that no longer listen could not be removed.", q.Sweep)
}

// Unreadable returns how many events could not be read, since the start.
func (q *Queue) Unreadable() int64 { return q.unreadable.Load() }

// Consume implements sluice.Queue.
func (q *Queue) Consume(ctx context.Context, p *sluice.Pipeline, h sluice.Handler) {
	c := &consumption{
		queue:    q,
		pipeline: p.Name,
		binding:  p.Binding.ID,
		Handler:  h,
		slots:    newSlots(p.Binding.Concurrency, p.Binding.Rate),
		ordered:  p.Binding.Concurrency == 1,
		types:    p.Binding.Types,
		peeks:    p.Binding.Where,
		bytes:    semaphore.NewWeighted(sluice.MaxRunBytes),
		picked:   make(chan struct{}, p.Binding.Deliveries()),
	}
	defer c.deliveries.Wait()
	if c.Place != nil && q.host.SoleWriter {
		q.Waiting.shutUntil(c.binding, unfollowed)
		q.host.Every(ctx, lease, func(time.Time) { c.reopen(ctx) })
	}
	c.deliveries.Go(func() { c.followWaiting(ctx) })
	for {
		err := c.follow(ctx, p.Binding)
		if ctx.Err() != nil {
			return
		}
		q.host.Log.Warn("A pipeline gets no events at the moment; trying on.", "pipeline", p.Name, "error", err)
		if wait.For(ctx, consumeRetry) != nil {
			return
		}
	}
}
