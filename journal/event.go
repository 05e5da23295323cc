package journal

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// Event implements sluice.Journal.
func (j *Journal) Event(ctx context.Context, correlationID string) (e sluice.Event, err error) {
	if err := j.host.Connected(); err != nil {
		return e, err
	}
	missing := sluice.Errorf(sluice.Gone, "event-gone", "The event of this call is no longer kept.")
	sequence, nonce, ok := j.ids.Parse(correlationID)
	if !ok {
		return e, missing
	}
	msg, err := j.events.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return e, missing
	}
	if err != nil {
		return e, stream.NoAnswer(err)
	}
	if err := json.Unmarshal(msg.Data, &e); err != nil {
		return e, err
	}
	if j.ids.Nonce(e.TraceID) != nonce {
		return sluice.Event{}, missing
	}
	return e, nil
}
