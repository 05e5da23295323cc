package queue

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// DropUnbound deletes consumers without a pipeline: a process may have ended after it
// stored a binding, and before it stored the pipeline.
func (q *Queue) DropUnbound(ctx context.Context) error {
	const settled = 10 * time.Minute // another node may be about to store its pipeline
	bound := q.Listeners.Bound()
	consumers := q.events.ListConsumers(ctx)
	for info := range consumers.Info() {
		if bound[info.Name] != nil || !q.host.SoleWriter && time.Since(info.Created) < settled {
			continue
		}
		if err := q.events.DeleteConsumer(ctx, info.Name); err != nil &&
			!errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
	}
	if err := consumers.Err(); err != nil {
		return err
	}
	stored, err := q.Waiting.stored(ctx)
	if err != nil {
		return err
	}
	return q.sweep(ctx, stored)
}

// Sweep removes events that wait for pipelines that no longer listen, as far as the
// index knows.
func (q *Queue) Sweep(ctx context.Context) error { return q.sweep(ctx, q.Waiting.known()) }

// sweep removes what waits for those of the bindings that no longer exist. A node may have
// ended before it removed that, or a run may have ended later.
//
// Something waits for these bindings, so they had a consumer and a pipeline; neither is
// ever made again under the same id. If both are gone, as the leaders say, nobody needs
// what waits. If only one is gone, a node may be about to store or remove the other.
func (q *Queue) sweep(ctx context.Context, bindings map[string]bool) error {
	for binding := range q.Listeners.Bound() {
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
	if err := q.Listeners.pipelines.CatchUp(ctx); err != nil {
		return err
	}
	bound := q.Listeners.Bound()
	for binding := range bindings {
		if bound[binding] == nil {
			q.Waiting.dropAll(ctx, binding)
		}
	}
	return nil
}

// drop removes an event that is done. If that fails, the event is removed when it is due.
func (w *Waiting) drop(ctx context.Context, binding, key string) {
	if !w.may(binding) {
		return
	}
	if w.host.SoleWriter && w.ready(ctx) != nil {
		return
	}
	state := w.stateAt(binding, key)
	w.forget(binding, key)
	w.Work.forget(binding + "." + key + ".")
	w.removeKept(ctx, binding, key)
	w.removeState(ctx, state)
}

// dropAll removes all events that wait for a binding, and returns the keys of those that no other node has.
func (w *Waiting) dropAll(ctx context.Context, binding string) (keys []string) {
	if w.host.SoleWriter && w.ready(ctx) != nil {
		return nil
	}
	w.mu.Lock()
	for e := range w.line(binding).all() {
		if e.here() && !e.claimed {
			keys = append(keys, e.key())
		}
	}
	w.count -= w.line(binding).count
	delete(w.lines, binding)
	maps.DeleteFunc(w.kept, func(place string, _ []uint64) bool { return strings.HasPrefix(place, binding+".") })
	w.mu.Unlock()
	w.Work.forget(binding + ".")
	w.remove(ctx, stream.WaitingPrefix+binding+".>")
	return keys
}

// stored returns the bindings that any node has stored an event or a state for.
func (w *Waiting) stored(ctx context.Context) (bindings map[string]bool, err error) {
	const many = 10_000 // subjects whose list would delay the start; Sweep knows the bindings by the index
	if state := w.stream.CachedInfo().State; state.Msgs == 0 || state.NumSubjects > many {
		return nil, nil
	}
	info, err := w.stream.Info(ctx, jetstream.WithSubjectFilter(stream.WaitingPrefix+">"))
	if err != nil {
		return nil, err
	}
	bindings = make(map[string]bool)
	for subject := range info.State.Subjects {
		binding, _, _ := strings.Cut(strings.TrimPrefix(subject, stream.WaitingPrefix), ".")
		bindings[binding] = true
	}
	return bindings, nil
}

func (w *Waiting) remove(ctx context.Context, subject string) {
	if err := w.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
		w.unremoved(ctx, err)
		w.removeLater(subject)
	}
	w.removed()
}

func (w *Waiting) unremoved(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.host.Log.Warn("What no longer waits could not be removed.", "error", err)
	}
}

// removeState removes the state with a sequence, if that is not 0.
func (w *Waiting) removeState(ctx context.Context, sequence uint64) {
	if sequence == 0 {
		return
	}
	if err := stream.Remove(ctx, w.stream, sequence, false); err != nil {
		w.unremoved(ctx, err)
	}
	w.removed()
}

// Forget removes the outcomes of an event, and what waits of it, see stream.Remove.
func (q *Queue) Forget(ctx context.Context, sequence uint64, traceID string, overwrite bool) error {
	key := eventKey(q.ids, sequence, traceID)
	if err := q.Waiting.ready(ctx); err != nil {
		return err
	}
	for binding := range q.Waiting.known() {
		if state := q.Waiting.stateAt(binding, key); state != 0 {
			if err := stream.Remove(ctx, q.Waiting.stream, state, overwrite); err != nil {
				return err
			}
		}
		q.Waiting.forget(binding, key)
		q.Waiting.leaveKept(binding + "." + key)
		q.Waiting.Work.forget(binding + "." + key + ".")
	}
	if err := stream.RemoveAll(ctx, q.Waiting.stream, stream.WaitingPrefix+"*."+key+".>", overwrite); err != nil {
		return err
	}
	return stream.RemoveAll(ctx, q.Outcomes.stream, stream.OutcomePrefix+key+".>", overwrite)
}
