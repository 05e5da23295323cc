package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// kept implements sluice.Kept. Outputs lie in the waiting room, beside the event if it waits, and go
// when it is done. They are sealed for the event.
type kept struct {
	*Waiting

	binding, key string
	of           []byte // the event as it is stored
	again        bool   // earlier attempts may have kept something
	stored       bool   // this attempt has kept something
	done         []sluice.WorkDone
}

// Output implements sluice.Kept.
func (k *kept) Output(ctx context.Context, step string) (json.RawMessage, error) {
	sealed, err := k.find(ctx, waitingKept, step)
	if sealed == nil || err != nil {
		return nil, err
	}
	return sealedFor(k.of).Open(step, sealed)
}

// find returns what an earlier attempt has stored for a step, nil if there is nothing.
func (k *kept) find(ctx context.Context, kind, step string) ([]byte, error) {
	if !k.again || !k.may(k.binding) {
		return nil, nil
	}
	msg, err := stream.Found(k.stream.GetLastMsgForSubject(ctx, waitingSubject(k.binding, k.key, kind+step)))
	if msg == nil || err != nil {
		return nil, err
	}
	return msg.Data, nil
}

// Keep implements sluice.Kept.
func (k *kept) Keep(ctx context.Context, step string, output json.RawMessage) error {
	return k.store(ctx, waitingKept, step, sealedFor(k.of).Seal(step, output))
}

// Offer implements sluice.Kept.
func (k *kept) Offer(ctx context.Context, step string, item sluice.WorkItem) (until time.Time, err error) {
	known, err := k.find(ctx, waitingWork, step)
	switch {
	case err != nil:
		return until, err
	case known != nil:
		err = json.Unmarshal(known, &item)
		return item.Until, err
	}
	if item.Input, err = value.Marshal(sealedFor(k.of).Seal(step, item.Input)); err != nil {
		return until, err
	}
	if known, err = value.Marshal(item); err == nil {
		err = k.store(ctx, waitingWork, step, known)
	}
	return item.Until, err
}

// Answer implements sluice.Kept.
func (k *kept) Answer(ctx context.Context, step string) (*sluice.WorkAnswer, error) {
	text, err := k.find(ctx, waitingLease, step)
	var p progress
	if text != nil && err == nil {
		err = json.Unmarshal(text, &p)
	}
	if p.Answer == nil || err != nil {
		return nil, err
	}
	box := sealedFor(k.of)
	text, err = box.Open(step, p.Answer)
	answer := new(sluice.WorkAnswer)
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	k.done = append(k.done, sluice.WorkDone{Lease: p.Lease, Queue: p.Queue, Answer: hashOf(box, text)})
	return answer, err
}

func (k *kept) store(ctx context.Context, kind, step string, data []byte) error {
	k.expect(k.binding)
	sequence, err := k.stream.Write(ctx, waitingSubject(k.binding, k.key, kind+step), nil, data)
	if err == nil {
		k.stored, k.again = true, true // the run may begin again on the same delivery
		k.keepAt(k.binding+"."+k.key, sequence)
	}
	return err
}

// remove removes what this attempt has kept, as nothing else is kept of the event.
func (k *kept) remove(ctx context.Context) {
	if k != nil && k.stored {
		k.removeKept(ctx, k.binding, k.key)
	}
}

// keepAt notes the sequence of something that is kept of an event. The engine would look through all that
// waits to find it by the event.
func (w *Waiting) keepAt(place string, sequence uint64) {
	if !w.host.SoleWriter {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept[place] = append(w.kept[place], sequence)
}

// leaveKept forgets what is kept of an event, and returns its sequences.
func (w *Waiting) leaveKept(place string) []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	sequences := w.kept[place]
	delete(w.kept, place)
	return sequences
}

// removeKept removes what is kept of an event. What is sealed for the event is not overwritten; a copy of it is,
// since once that is gone, an erasure does not find it any more. In a cluster nothing is overwritten: its servers
// may not have read a copy yet.
func (w *Waiting) removeKept(ctx context.Context, binding, key string) {
	if !w.host.SoleWriter {
		w.remove(ctx, waitingSubject(binding, key, ">"))
		return
	}
	err := stream.RemoveAll(ctx, w.stream, waitingSubject(binding, key, waitingEvent), true)
	for _, sequence := range w.leaveKept(binding + "." + key) {
		err = errors.Join(err, stream.Remove(ctx, w.stream, sequence, false))
	}
	if err != nil {
		w.unremoved(ctx, err)
	}
	w.removed()
}
