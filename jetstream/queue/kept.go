package queue

import (
	"context"
	"encoding/json"
	"time"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// kept implements sluice.Kept. Outputs lie in the waiting room, beside the event if it waits, and go
// when it is done.
type kept struct {
	*Waiting

	binding, key string
	again        bool     // earlier attempts may have kept something
	stored       []uint64 // by this attempt
	leases       []string // whose answers this attempt went on with
}

// Output implements sluice.Kept.
func (k *kept) Output(ctx context.Context, step string) (json.RawMessage, error) {
	return k.find(ctx, waitingKept, step)
}

// find returns what an earlier attempt has stored for a step, nil if there is nothing.
func (k *kept) find(ctx context.Context, kind, step string) (json.RawMessage, error) {
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
	return k.store(ctx, waitingKept, step, output)
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
	if known, err = value.Marshal(item); err == nil {
		err = k.store(ctx, waitingWork, step, known)
	}
	k.again = true
	return item.Until, err
}

// Answer implements sluice.Kept.
func (k *kept) Answer(ctx context.Context, step string) (*sluice.WorkAnswer, error) {
	text, err := k.find(ctx, waitingLease, step)
	var p progress
	if text != nil && err == nil {
		err = json.Unmarshal(text, &p)
	}
	if p.Answer != nil {
		k.leases = append(k.leases, p.Lease)
	}
	return p.Answer, err
}

func (k *kept) store(ctx context.Context, kind, step string, data []byte) error {
	k.expect(k.binding)
	sequence, err := k.stream.Write(ctx, waitingSubject(k.binding, k.key, kind+step), nil, data)
	if err == nil {
		k.stored = append(k.stored, sequence)
	}
	return err
}

// remove removes what this attempt has kept, as nothing else is kept of the event.
func (k *kept) remove(ctx context.Context) {
	if k == nil || len(k.stored) == 0 {
		return
	}
	for _, sequence := range k.stored {
		if err := stream.Remove(ctx, k.stream, sequence, true); err != nil {
			k.host.Log.Warn("The output of a step could not be removed.", "error", err)
		}
	}
	k.removed()
}
