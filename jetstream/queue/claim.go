package queue

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
	"sluice/value"
)

// claim reserves a taken event for this node for a while, and returns its newest state.
// sequence is that of the state that was due. It returns nil if the event is no longer
// here, or another node has it.
func (w *Waiting) claim(ctx context.Context, binding, key string, sequence uint64) (*state, error) {
	s, err := w.find(ctx, binding, key)
	switch {
	case err != nil:
		return nil, err
	case s == nil || s.Held: // it is done, or keeps its place
		w.forget(binding, key)
		return nil, nil
	}
	claimed := s.sequence == sequence || s.Node == w.node // otherwise the index is about to learn of a newer state
	if claimed && !w.host.SoleWriter {
		if claimed, err = w.extendClaim(ctx, binding, key, s); err != nil {
			return nil, err
		}
	}
	if !claimed { // another node was first; when it is done, nothing is left of the event
		w.postpone(binding, key, consumeRetry)
		return nil, nil
	}
	return s, nil
}

// extendClaim extends the claim on an event by another lease, if its state is the newest
// one.
func (w *Waiting) extendClaim(ctx context.Context, binding, key string, s *state) (ok bool, err error) {
	claimed := *s
	claimed.Told, claimed.Node = w.now().UTC(), w.node
	claimed.Due = claimed.Told.Add(lease)
	data, err := value.Marshal(claimed)
	if err != nil {
		return false, err
	}
	msg := nats.NewMsg(waitingSubject(binding, key, waitingState))
	msg.Data = w.host.Seal(msg.Subject, data)
	ack, err := w.host.JS.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(s.sequence))
	if err != nil {
		if err = stream.NotTaken("the claim", err); stream.WasConflict(err) {
			return false, nil
		}
		return false, err
	}
	s.sequence = ack.Sequence
	return true, nil
}

const (
	// stream.WaitingPrefix comes before the binding, the event's key, and one of these.
	waitingEvent = "event"
	waitingState = "state"

	// maxWaiting bounds the events of one pipeline that wait here. Further ones keep
	// their place with the consumer, which then delivers no more.
	maxWaiting = 100_000
	// waitingSync is how often removals are synced.
	waitingSync = time.Second
	// lease is how long a claim on an event lasts. The node that runs the event
	// renews it in time.
	lease = 30 * time.Second
)

// keepClaim extends the claim on an event until stop is called.
func (w *waited) keepClaim(ctx context.Context, key string, s state) (stop func()) {
	if w.queue.host.SoleWriter {
		return func() {}
	}
	ctx, stop = context.WithCancel(ctx)
	w.queue.host.Every(ctx, lease/3, func(time.Time) {
		if ok, err := w.queue.waiting.extendClaim(ctx, w.binding, key, &s); (err != nil || !ok) && ctx.Err() == nil {
			w.queue.host.Log.Warn("Another node may run an event as well.", "pipeline", w.pipeline, "error", err)
		}
	})
	return stop
}
