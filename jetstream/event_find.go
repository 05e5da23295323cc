package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/queue"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
)

// find returns the envelope of the event that a correlation id leads to.
func (s *Events) find(ctx context.Context, correlationID string) (e correlation.Envelope, err error) {
	if r, ok := s.ids.ParseSpooled(correlationID); ok {
		return s.findSpooled(ctx, r)
	}
	reference, ok := s.ids.Parse(correlationID)
	if !ok {
		return e, queue.Gone()
	}
	if e, err = s.read(ctx, reference.Sequence); err == nil && !s.ids.Fits(reference, e.TraceID) {
		err = queue.Gone()
	}
	return e, err
}

// errWaits is the error of a call that may wait in the spool of another node.
var errWaits = errors.New("the call may wait in a spool")

// findSpooled returns the envelope of the event that a spooled call's id leads to.
func (s *Events) findSpooled(
	ctx context.Context, r correlation.Reference,
) (e correlation.Envelope, err error) {
	found, waits, err := spool.Find(ctx, s.stream, r)
	if err != nil {
		return e, err
	}
	if waits && !s.host.SoleWriter {
		return e, errWaits
	}
	for _, f := range found {
		if e, err = s.read(ctx, f.Sequence); err != nil || s.ids.Fits(r, cmp.Or(f.TraceID, e.TraceID)) {
			return e, err
		}
	}
	return e, queue.Gone()
}

// read returns the envelope of the event with a sequence.
func (s *Events) read(ctx context.Context, sequence uint64) (e correlation.Envelope, err error) {
	msg, err := stream.Found(s.stream.GetMsg(ctx, sequence))
	switch {
	case err != nil:
		return e, err
	case msg == nil:
		return e, s.missing(ctx, sequence)
	}
	if e, err = correlation.ReadEnvelope(msg); err != nil {
		return e, queue.Gone() // a message that is not an event has no result
	}
	if e.Foreign {
		e.Listeners = s.Queue.Listeners.Receivers(e)
	}
	return e, nil
}

// Newest implements sluice.StoredEvents.
func (s *Events) Newest(ctx context.Context, eventKey string) (json.RawMessage, error) {
	if err := s.host.Connected(); err != nil {
		return nil, err
	}
	msg, err := stream.Found(s.stream.GetLastMsgForSubject(ctx, sluice.EventPrefix+eventKey))
	if msg == nil || err != nil {
		return nil, err
	}
	return msg.Data, nil
}

// Next implements sluice.StoredEvents.
func (s *Events) Next(ctx context.Context, eventKey string) (json.RawMessage, error) {
	if err := s.host.Connected(); err != nil {
		return nil, err
	}
	sub, err := s.host.Conn.SubscribeSync(sluice.EventPrefix + eventKey)
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails if the connection has gone, which ends it too
	msg, err := sub.NextMsgWithContext(ctx)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, stream.NoAnswer(err)
	}
	return s.host.Open(msg.Subject, msg.Data), nil
}
