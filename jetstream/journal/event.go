package journal

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/stream"
)

// storedEvent returns an event as it is stored, nil if it is gone.
func storedEvent(ctx context.Context, events jetstream.Stream, sequence uint64) (*jetstream.RawStreamMsg, error) {
	msg, err := events.GetMsg(ctx, sequence)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil
	case err != nil:
		return nil, stream.NoAnswer(err)
	}
	return msg, nil
}

// Event implements sluice.Journal.
func (j *Journal) Event(ctx context.Context, correlationID string) (e sluice.Event, err error) {
	if err := j.host.Connected(); err != nil {
		return e, err
	}
	missing := sluice.Errorf(sluice.CodeEventGone, "The event of this call is no longer kept.")
	reference, ok := j.ids.Parse(correlationID)
	if !ok {
		return e, missing
	}
	msg, err := storedEvent(ctx, j.events, reference.Sequence)
	if err != nil {
		return e, err
	}
	if msg == nil {
		return e, missing
	}
	envelope, err := correlation.ReadEnvelope(msg)
	if err != nil || !j.ids.Fits(reference, envelope.TraceID) {
		return sluice.Event{}, missing
	}
	if err := json.Unmarshal(msg.Data, &e); err != nil && !envelope.Foreign {
		return e, err
	}
	if envelope.Foreign {
		e.TraceID, e.ReceivedAt = envelope.TraceID, envelope.Received
		e.EventKey, e.Key = envelope.EventKey, envelope.Key
	}
	return e, nil
}
