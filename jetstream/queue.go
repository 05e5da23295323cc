package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"sluice"
)

const (
	// ackWait is after how long an event is delivered again that nobody works
	// on any more, as after a crash.
	ackWait = 4 * time.Second
	// heartbeat is how often the engine is told that an event is worked on.
	heartbeat = time.Second
	// pullHeartbeat is how often a consumer without events says that it is
	// there. After two of them a request for events is taken for lost, as in
	// a change of leaders, and made again.
	pullHeartbeat = 5 * time.Second
	// consumeAgain is the pause before a consumer that failed is tried again.
	consumeAgain = 500 * time.Millisecond
)

// A Queue implements sluice.Queue: a binding is a durable consumer of the stream
// of events.
type Queue struct {
	engine *Engine
	work   *inProgress
	crew   *crew
}

// Bind implements sluice.Queue.
func (q *Queue) Bind(ctx context.Context, pattern string, concurrency int) (*sluice.Binding, error) {
	if err := q.engine.Ready(); err != nil {
		return nil, err
	}
	info, err := q.engine.events.stream.Info(ctx)
	if err != nil {
		return nil, noAnswer(err)
	}
	// A place, never "from now on": should the engine lose the consumer's
	// state, events come twice instead of not at all.
	b := &sluice.Binding{
		ID:          strings.ToLower(rand.Text()),
		Pattern:     pattern,
		Concurrency: concurrency,
		Start:       info.State.LastSeq + 1,
	}
	if _, err := q.consumer(ctx, b); err != nil {
		return nil, notTaken("the binding", err)
	}
	return b, q.engine.syncStream(eventStream, "obs", b.ID)
}

// Unbind implements sluice.Queue.
func (q *Queue) Unbind(ctx context.Context, b *sluice.Binding) error {
	err := q.engine.events.stream.DeleteConsumer(ctx, b.ID)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return unavailable("engine-unavailable", "The engine did not end the binding.").Because(err)
	}
	if q.floorOf(b.ID) > 0 {
		if err := q.setFloor(ctx, b.ID, nil); err != nil {
			return err
		}
	}
	return q.engine.syncStream(eventStream, "obs", b.ID)
}

// consumer makes the consumer of a binding, or gives it the binding's settings.
func (q *Queue) consumer(ctx context.Context, b *sluice.Binding) (jetstream.Consumer, error) {
	return q.engine.events.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:        b.ID,
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    b.Start,
		FilterSubjects: append(subjectsOf(b.Pattern), directPrefix+b.ID),
		AckPolicy:      jetstream.AckExplicitPolicy,
		AckWait:        ackWait,
		MaxAckPending:  deliveredAtOnce(b.Concurrency),
	})
}

// deliveredAtOnce is how many events of a pipeline are under way. More than run
// at the same time, since those whose outcome is being written need no more
// running; but only one where order counts.
func deliveredAtOnce(concurrency int) int {
	if concurrency == 1 {
		return 1
	}
	return 8 * concurrency
}

// Consume implements sluice.Queue.
func (q *Queue) Consume(ctx context.Context, p *sluice.Pipeline, run func(sluice.Delivery) (sluice.Outcome, error)) error {
	c := &consumption{
		queue:    q,
		pipeline: p.Name,
		binding:  p.Binding.ID,
		run:      run,
		slots:    make(chan struct{}, p.Binding.Concurrency),
		open:     semaphore.NewWeighted(maxOpen),
	}
	defer c.deliveries.Wait()
	for {
		err := c.follow(ctx, p.Binding)
		if ctx.Err() != nil {
			return nil
		}
		q.engine.log.Warn("A pipeline gets no events at the moment; trying on.", "pipeline", p.Name, "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(consumeAgain):
		}
	}
}

// dropUnbound deletes consumers that no pipeline has any more: what is left of a
// process that ended between storing a pipeline and its binding.
func (q *Queue) dropUnbound(ctx context.Context) error {
	const settled = 10 * time.Minute // another node may be about to store its pipeline
	bound := q.engine.events.listeners.bound()
	consumers := q.engine.events.stream.ListConsumers(ctx)
	for info := range consumers.Info() {
		if bound[info.Name] != "" || q.engine.server == nil && time.Since(info.Created) < settled {
			continue
		}
		if err := q.engine.events.stream.DeleteConsumer(ctx, info.Name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
	}
	return consumers.Err()
}
