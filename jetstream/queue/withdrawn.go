package queue

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// An event that waits for a pipeline is withdrawn when it is erased, or the pipeline listens no longer. No
// outcome tells what became of its call then: whoever withdraws it does, once for a call. If the event is
// in its attempt on this node, the delivery does at its end, unless it has an outcome by then.

// OriginOf returns the correlation id of the event that has set an event off, or its own. It is empty
// for a replay, which tells only that it went well.
func (q *Queue) OriginOf(e correlation.Envelope) string {
	switch {
	case e.ReplayOf != "" || e.Origin != nil && e.Origin.TraceID != e.TraceID:
		return ""
	case e.Origin != nil:
		return e.Origin.CorrelationID
	}
	return q.ids.ID(e.Sequence, e.TraceID)
}

// Withdraw withdraws an event, and reports whether a delivery of it here tells so.
func (q *Queue) Withdraw(pipeline string, s Settled) (others bool) {
	q.work.mu.Lock()
	defer q.work.mu.Unlock()
	for d, key := range q.work.all {
		if key.sequence == s.Sequence && key.pipeline == pipeline {
			d.withdrawn, others = &s, true
		}
	}
	return others
}

// isWithdrawn reports whether the event of a delivery was withdrawn.
func (w *inProgress) isWithdrawn(d *delivery) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return d.withdrawn != nil
}

// leave ends a delivery. If its event was withdrawn meanwhile and has no outcome, it waits no longer.
func (c *consumption) leave(d *delivery) {
	w := c.queue.work
	w.mu.Lock()
	if key := w.all[d]; w.waited[key] == d {
		delete(w.waited, key)
	}
	delete(w.all, d)
	if d.withdrawn == nil || d.settled {
		w.mu.Unlock()
		return
	}
	s := *d.withdrawn
	for other := range w.all {
		if other.withdrawn != nil && other.withdrawn.Origin == s.Origin {
			s.Decides = false // that one is later
		}
	}
	w.mu.Unlock()
	c.queue.Waiting.drop(context.Background(), c.binding, d.key)
	c.queue.Settled(s)
}

// withdrawAll withdraws the events that wait for a binding of a pipeline, or that its consumer, as it was, has
// not handed out: they have failed.
func (q *Queue) withdrawAll(ctx context.Context, pipeline, binding string, was *jetstream.ConsumerInfo) error {
	q.work.mu.Lock()
	q.work.ended[binding] = true
	q.work.mu.Unlock()
	outcomes, err := q.Outcomes.Info(ctx)
	if err != nil {
		return err
	}
	told := make(map[string]bool)
	withdraw := func(e correlation.Envelope) {
		origin := q.OriginOf(e)
		s := Settled{e.Sequence, e.TraceID, "", origin, false, !told[origin], *unhandled(pipeline, e)}
		s.Outcome.Stored = outcomes.State.LastSeq
		if origin != "" && slices.Contains(e.Listeners, pipeline) && !q.Withdraw(pipeline, s) {
			told[origin] = true
			q.Settled(s)
		}
	}
	waiting := make(map[uint64]bool)
	for _, key := range q.Waiting.dropAll(ctx, binding) {
		if e, err := q.Waiting.original(ctx, key); e != nil {
			of, _ := e.envelope() // it was read before
			withdraw(of)
			waiting[e.sequence] = true
		} else if err != nil {
			return err
		}
	}
	return q.unfinished(ctx, pipeline, was, func(e correlation.Envelope) {
		if !waiting[e.Sequence] {
			withdraw(e)
		}
	})
}

// unfinished calls back with each event that a consumer of a pipeline was not done with, as far as this node can tell.
func (q *Queue) unfinished(
	ctx context.Context, pipeline string, was *jetstream.ConsumerInfo, found func(correlation.Envelope),
) error {
	done := was.Delivered.Stream
	if q.host.SoleWriter && was.NumAckPending > 0 { // otherwise another node may have what was handed out
		done = was.AckFloor.Stream
	}
	for _, subject := range was.Config.FilterSubjects {
		for next := done + 1; ; {
			msg, err := stream.Found(q.events.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subject)))
			if err != nil {
				return err
			}
			if msg == nil {
				break
			}
			next = msg.Sequence + 1
			e, err := correlation.ReadEnvelope(msg)
			isOld := e.Sequence <= was.Delivered.Stream && time.Since(e.Received) > q.Outcomes.keep.Age
			if err != nil || isOld { // the outcome of an old one may have expired
				continue
			}
			if known, _, err := q.Outcomes.find(ctx, e.Sequence, e.TraceID, pipeline); known == nil && err == nil {
				found(e)
			}
		}
	}
	return nil
}
