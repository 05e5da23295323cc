package jetstream

import (
	"context"
	"encoding/json"

	"sluice"
	"sluice/jetstream/stream"
)

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
