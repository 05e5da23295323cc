package queue

import (
	"context"
	"errors"
	"runtime/debug"
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
	state, copied := w.places(binding, key)
	w.forget(binding, key)
	w.Work.forget(binding + "." + key + ".")
	w.removeKept(ctx, waitingSubject(binding, key, ">"))
	w.removeAt(ctx, w.stream, state)
	w.removeAt(ctx, w.copies, copied) // the last: what has no state goes at the next start
}

// dropAll removes all events that wait for a binding.
func (w *Waiting) dropAll(ctx context.Context, binding string) {
	if w.host.SoleWriter && w.ready(ctx) != nil {
		return
	}
	w.mu.Lock()
	w.count -= w.line(binding).count
	delete(w.lines, binding)
	w.mu.Unlock()
	w.Work.forget(binding + ".")
	w.remove(ctx, w.stream, stream.WaitingPrefix+binding+".>")
	w.remove(ctx, w.copies, stream.CopyPrefix+binding)
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

// removeKept removes what is kept of an event. It is overwritten, as copies are, where this node alone
// writes: servers of a cluster may not have read it yet.
func (w *Waiting) removeKept(ctx context.Context, subject string) {
	if !w.host.SoleWriter {
		w.remove(ctx, w.stream, subject)
		return
	}
	if err := stream.RemoveAll(ctx, w.stream, subject, true); err != nil {
		w.unremoved(ctx, err)
	}
	w.removed()
}

func (w *Waiting) remove(ctx context.Context, from jetstream.Stream, subject string) {
	if err := from.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
		w.unremoved(ctx, err)
	}
	w.removed()
}

func (w *Waiting) unremoved(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.host.Log.Warn("What no longer waits could not be removed.", "error", err)
	}
}

// removeAt removes what has a sequence, if that is not 0. Copies are overwritten: once they are gone, an
// erasure does not find them any more.
func (w *Waiting) removeAt(ctx context.Context, from jetstream.Stream, sequence uint64) {
	if sequence == 0 {
		return
	}
	if err := stream.Remove(ctx, from, sequence, from == w.copies); err != nil {
		w.unremoved(ctx, err)
	}
	w.removed()
}

// erase removes what has a sequence, see stream.Remove.
func erase(ctx context.Context, from jetstream.Stream, sequence uint64, overwrite bool) error {
	if sequence == 0 {
		return nil
	}
	return stream.Remove(ctx, from, sequence, overwrite)
}

// manyCopies is how many make it worthwhile to free memory after the start.
const manyCopies = 10_000

// sweepCopies removes copies of events that don't wait, up to that with a sequence: a process may
// have ended before it stored a state for them, or after it removed that.
func (w *Waiting) sweepCopies(ctx context.Context, last uint64) {
	if w.ready(ctx) != nil {
		return
	}
	waiting := w.copied()
	if len(waiting) > manyCopies {
		defer debug.FreeOSMemory() // reading the states leaves garbage several times their size
	}
	info, err := w.copies.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil || info.State.Msgs <= uint64(len(waiting)) {
		return
	}
	for _, sequence := range info.State.Deleted {
		waiting[sequence] = true
	}
	for sequence := info.State.FirstSeq; sequence <= last; sequence++ {
		if !waiting[sequence] {
			w.removeAt(ctx, w.copies, sequence)
		}
	}
}

// Forget removes the outcomes of an event, and what waits of it, see stream.Remove.
func (q *Queue) Forget(ctx context.Context, sequence uint64, traceID string, overwrite bool) error {
	key := eventKey(q.ids, sequence, traceID)
	if err := q.Waiting.ready(ctx); err != nil {
		return err
	}
	for binding := range q.Waiting.known() {
		state, copied := q.Waiting.places(binding, key)
		if err := errors.Join(erase(ctx, q.Waiting.stream, state, overwrite),
			erase(ctx, q.Waiting.copies, copied, overwrite)); err != nil {
			return err
		}
		q.Waiting.forget(binding, key)
		q.Waiting.Work.forget(binding + "." + key + ".")
	}
	if err := stream.RemoveAll(ctx, q.Waiting.stream, stream.WaitingPrefix+"*."+key+".>", overwrite); err != nil {
		return err
	}
	return stream.RemoveAll(ctx, q.Outcomes.stream, stream.OutcomePrefix+key+".>", overwrite)
}
