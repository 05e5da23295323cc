package jetstream

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
	"sluice/stretch"
)

// deliveries tell calls that are repeated from new ones.
type deliveries struct {
	index   *delivery.Index // embedded
	records *delivery.Records
	markers *delivery.Markers // external
}

// setUpDeliveries prepares what finds out repeated calls, as fits the host.
func (s *Events) setUpDeliveries(ctx, running context.Context) error {
	if !s.host.Embedded {
		s.once.markers = delivery.NewMarkers(s.host, s.stream)
		return nil
	}
	s.once.index = delivery.NewIndex(s.deliveryMemory)
	s.once.records = delivery.NewRecords(s.host, s.once.index)
	return s.once.records.SetUp(ctx, running, s.stream)
}

// finishDeliveries writes down what is known of the newest events.
func (s *Events) finishDeliveries() {
	const patience = 2 * time.Second
	if s.once.records == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stretch.Of(patience))
	defer cancel()
	s.once.records.Finish(ctx, s.writer.Durable())
}

// storeOnce puts the event of a delivery on stable storage, unless the delivery
// was accepted before: then it gives the first one.
func (s *Events) storeOnce(ctx context.Context, subject string, header nats.Header, e *sluice.Event) (sequence uint64, first *delivery.Accepted, err error) {
	if s.once.markers != nil {
		return s.storeMarked(ctx, subject, header, e)
	}
	f, index := e.Fingerprint, s.once.index
	first, doubt, err := index.Begin(ctx, f, sluice.TraceOwner(e.TraceID), e.ReceivedAt)
	if first != nil || err != nil {
		return 0, first, err
	}
	behind := s.writer.Durable()
	if doubt != nil {
		behind = *doubt
		first, err = s.findStored(ctx, subject, *doubt, f)
		if first != nil {
			index.End(f, first.Sequence, first.TraceID)
			return 0, first, nil
		}
	}
	if err == nil {
		sequence, err = s.store(ctx, subject, header, e)
	}
	if err != nil {
		index.Fail(f, sluice.AsError(err).Kind == sluice.Unavailable, behind)
		return 0, nil, err
	}
	index.End(f, sequence, e.TraceID)
	return sequence, nil, nil
}

// storeMarked is storeOnce on an external engine.
func (s *Events) storeMarked(ctx context.Context, subject string, header nats.Header, e *sluice.Event) (sequence uint64, first *delivery.Accepted, err error) {
	data, err := s.encode(e, nil)
	if err != nil {
		return 0, nil, err
	}
	sequence, first, err = s.once.markers.Write(ctx, e.Fingerprint, e.TraceID, &nats.Msg{Subject: subject, Header: header, Data: data})
	if err == nil && first == nil {
		s.stored(sequence, subject, e)
	}
	return sequence, first, err
}

// findStored looks among the events behind one for that of a delivery whose
// attempt was not answered: nil if it is not there, Unavailable if it is not yet
// durable.
func (s *Events) findStored(ctx context.Context, subject string, behind uint64, f *sluice.Fingerprint) (*delivery.Accepted, error) {
	const batch = 256
	for next := behind + 1; ; {
		messages, err := s.host.Fetch(ctx, eventStream, stream.Range{Sequence: next, Subject: subject, Count: batch})
		if err != nil || len(messages) == 0 {
			return nil, err
		}
		for _, msg := range messages {
			next = msg.Sequence + 1
			e, err := correlation.ReadEnvelope(&jetstream.RawStreamMsg{Sequence: msg.Sequence, Data: msg.Data})
			if err != nil || e.Fingerprint == nil || e.Fingerprint.Key != f.Key {
				continue
			}
			if msg.Sequence > s.writer.Durable() {
				return nil, stream.Unavailable(sluice.CodeEngineUnavailable, "The first call of this delivery is not durable yet.")
			}
			return &delivery.Accepted{Sequence: msg.Sequence, TraceID: e.TraceID, At: e.Received, Digest: e.Fingerprint.Digest}, nil
		}
	}
}

// again returns the result of the first call of a delivery, for one that repeats
// it. A result that is not kept any more was accepted all the same.
func (s *Events) again(ctx context.Context, first *delivery.Accepted, f *sluice.Fingerprint, wait time.Duration) (sluice.Result, error) {
	id := s.ids.ID(first.Sequence, first.TraceID)
	result, err := s.Result(ctx, id, wait)
	if err != nil {
		if sluice.AsError(err).Kind != sluice.Gone {
			return result, err
		}
		result = sluice.Accepted(first.TraceID, id, first.At)
	}
	result.Duplicate, result.Differs = true, first.Digest != f.Digest
	return result, nil
}
