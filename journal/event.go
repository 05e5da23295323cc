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

// Event implements sluice.Journal.
func (j *Journal) Event(ctx context.Context, correlationID string) (e sluice.Event, err error) {
	if err := j.host.Connected(); err != nil {
		return e, err
	}
	missing := sluice.Errorf(sluice.CodeEventGone, "The event of this call is no longer kept.")
	place, ok := j.ids.Parse(correlationID)
	if !ok {
		return e, missing
	}
	msg, err := j.events.GetMsg(ctx, place.Sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return e, missing
	}
	if err != nil {
		return e, stream.NoAnswer(err)
	}
	envelope, err := correlation.ReadEnvelope(msg)
	if err != nil || !j.ids.Fits(place, envelope.TraceID) {
		return sluice.Event{}, missing
	}
	if err := json.Unmarshal(msg.Data, &e); err != nil && !envelope.Foreign {
		return e, err
	}
	if envelope.Foreign {
		e.TraceID, e.EventKey, e.Key, e.ReceivedAt = envelope.TraceID, envelope.EventKey, envelope.Key, envelope.Received
	}
	return e, nil
}
