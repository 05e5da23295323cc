package queue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"golang.org/x/sync/errgroup"

	"sluice/jetstream/stream"
	"sluice/value"
)

// event returns an event that waits, nil if it is gone.
func (w *Waiting) event(ctx context.Context, binding, key string) (*event, error) {
	if w.host.SoleWriter { // where others write, it was copied when it came to wait
		if e, err := w.original(ctx, key); e != nil || err != nil {
			return e, err
		}
	}
	e, err := w.copied(ctx, binding, key)
	if e == nil && err == nil && !w.host.SoleWriter { // one that was restored was not
		return w.original(ctx, key)
	}
	return e, err
}

// copied returns the copy of an event that waits, nil if there is none.
func (w *Waiting) copied(ctx context.Context, binding, key string) (*event, error) {
	msg, err := stream.Found(w.stream.GetLastMsgForSubject(ctx, waitingSubject(binding, key, waitingEvent)))
	if msg == nil || err != nil {
		return nil, err
	}
	head, data, _ := bytes.Cut(msg.Data, []byte("\n"))
	e := &event{sequence: sequenceOf(key), data: data}
	return e, json.Unmarshal(head, &e.origin)
}

// original returns an event from the stream of events, nil if it is not there, or another one has its
// sequence.
func (w *Waiting) original(ctx context.Context, key string) (*event, error) {
	msg, err := stream.Found(w.events.GetMsg(ctx, sequenceOf(key)))
	if msg == nil || err != nil {
		return nil, err
	}
	e := &event{
		sequence: msg.Sequence, data: msg.Data,
		origin: origin{Subject: msg.Subject, Time: msg.Time, Waits: msg.Header.Get(waitsHeader)},
	}
	of, err := e.envelope()
	if err != nil || eventKey(w.ids, e.sequence, of.TraceID) != key {
		return nil, nil //nolint:nilerr // what can't be read has never come to wait
	}
	return e, nil
}

// copy stores a copy of an event that waits.
func (w *Waiting) copy(ctx context.Context, binding, key string, e event) error {
	head, err := value.Marshal(e.origin)
	if err != nil {
		return err
	}
	_, err = w.stream.Write(ctx, waitingSubject(binding, key, waitingEvent), nil,
		slices.Concat(head, []byte("\n"), e.data))
	return err
}

// A round of Outlive copies at most this many events, some of them at the same time: they share syncs of
// the disk.
const copiedInRound, copiedAtOnce = 10_000, 64

// Outlive makes copies of the events before a sequence that wait, since these are about to be removed from
// the stream of events. It returns before which one that was done, also with an error.
func (w *Waiting) Outlive(ctx context.Context, until uint64) (uint64, error) {
	if err := w.ready(ctx); err != nil {
		return 0, err
	}
	leaving, until := w.leaving(until)
	var copying errgroup.Group
	copying.SetLimit(copiedAtOnce)
	for _, at := range leaving {
		copying.Go(func() error { return w.outlive(ctx, at) })
	}
	err := copying.Wait()
	if err != nil { // such as a full disk
		leaving, until = w.leaving(until)
		for _, at := range leaving {
			until = min(until, at.event)
		}
	}
	return until, err
}

// A leavingEvent waits for a binding.
type leavingEvent struct {
	binding, key string
	event        uint64
}

// leaving returns the events before a sequence that have no copy, the oldest ones if they are many, and
// before which sequence that are all.
func (w *Waiting) leaving(until uint64) (leaving []leavingEvent, before uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for binding, l := range w.lines {
		for e := range l.all() {
			if e.here() && e.event < until && !e.copied {
				leaving = append(leaving, leavingEvent{binding, e.key(), e.event})
			}
		}
	}
	if len(leaving) > copiedInRound {
		slices.SortFunc(leaving, func(a, b leavingEvent) int { return cmp.Compare(a.event, b.event) })
		until = leaving[copiedInRound].event
		leaving = leaving[:copiedInRound]
	}
	return leaving, until
}

// outlive makes a copy of an event, if it has none.
func (w *Waiting) outlive(ctx context.Context, at leavingEvent) error {
	known, err := w.copied(ctx, at.binding, at.key)
	if known == nil && err == nil {
		known, err = w.original(ctx, at.key)
		if known != nil && err == nil {
			err = w.copy(ctx, at.binding, at.key, *known)
		}
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	e := w.line(at.binding).find(at.key)
	if e != nil {
		e.copied = true
	}
	w.mu.Unlock()
	if e == nil { // it is done by now
		w.removeKept(ctx, at.binding, at.key)
	}
	return nil
}
