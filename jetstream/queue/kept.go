package queue

import (
	"context"
	"encoding/json"

	"sluice/jetstream/stream"
)

// kept implements sluice.Kept. Outputs lie in the waiting room, beside the event if it waits, and go
// when it is done.
type kept struct {
	*Waiting

	binding, key string
	again        bool     // earlier attempts may have kept something
	stored       []uint64 // by this attempt
}

// waitingKept comes before the key of a step.
const waitingKept = "once."

// Output implements sluice.Kept.
func (k *kept) Output(ctx context.Context, step string) (json.RawMessage, error) {
	if !k.again || !k.may(k.binding) {
		return nil, nil
	}
	msg, err := stream.Found(k.stream.GetLastMsgForSubject(ctx, waitingSubject(k.binding, k.key, waitingKept+step)))
	if msg == nil || err != nil {
		return nil, err
	}
	return msg.Data, nil
}

// Keep implements sluice.Kept.
func (k *kept) Keep(ctx context.Context, step string, output json.RawMessage) error {
	k.expect(k.binding)
	sequence, err := k.stream.Write(ctx, waitingSubject(k.binding, k.key, waitingKept+step), nil, output)
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
		if err := stream.Remove(ctx, k.stream, sequence, false); err != nil {
			k.host.Log.Warn("The output of a step could not be removed.", "error", err)
		}
	}
	k.removed()
}
