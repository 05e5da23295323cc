package jetstream

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/delivery"
	"sluice/jetstream/stream"
)

// maxBatch bounds the bytes of a call that brings several events: each of them has its headers.
const maxBatch = 16 << 20

// AcceptBatch implements sluice.Batches.
func (s *Events) AcceptBatch(ctx context.Context, b sluice.Batch) (sluice.Result, []sluice.StoredItem, error) {
	return s.AcceptBatchBy(ctx, b, func(ctx context.Context, messages []*nats.Msg) ([]uint64, error) {
		last, err := s.stream.WriteTogether(ctx, messages)
		sequences := make([]uint64, len(messages))
		for i := range sequences {
			sequences[i] = last - uint64(len(messages)-1-i)
		}
		return sequences, err
	})
}

// AcceptBatchBy implements delivery.Engine. The call itself is stored before its events: by it a
// start knows whether all of them are there.
func (s *Events) AcceptBatchBy(
	ctx context.Context, b sluice.Batch, write delivery.WriteAll,
) (result sluice.Result, stored []sluice.StoredItem, err error) {
	if err := s.host.Ready(); err != nil {
		return result, nil, err
	}
	events := append([]*sluice.Event{b.Call}, b.Items...)
	messages, size := make([]*nats.Msg, len(events)), 0
	for i, e := range events {
		listed := *e
		msg := &nats.Msg{Subject: stream.BatchPrefix + e.EventKey}
		if i > 0 {
			if msg.Subject, listed.Listeners, err = s.address(e); err != nil {
				return result, nil, err
			}
		}
		if msg.Data, err = stream.Encode(&listed, nil); err != nil {
			return result, nil, err
		}
		if size += len(msg.Data); size > maxBatch {
			return result, nil, sluice.CodePayloadTooLarge.Errorf(
				"The events of this call have more than %d bytes together, headers included.", maxBatch)
		}
		events[i], messages[i] = &listed, msg
	}
	if !s.space.take(size) {
		return result, nil, storageFull()
	}
	sequences, err := write(ctx, messages)
	if err != nil {
		return result, nil, err
	}
	for i, e := range events {
		s.stored(sequences[i], messages[i].Subject, e)
		stored = append(stored, sluice.StoredItem{Event: e, CorrelationID: s.ids.ID(sequences[i], e.TraceID)})
	}
	result = sluice.Accepted(b.Call.TraceID, stored[0].CorrelationID, b.Call.ReceivedAt)
	result.Sequence = sequences[0]
	return b.Call.Split.Result(result), stored[1:], nil
}

// removeTorn removes what a crash has left of calls that were to bring several events: nobody was told
// that they are stored.
func (e *Engine) removeTorn(ctx context.Context) error {
	if !e.host.SoleWriter {
		return nil
	}
	whole := e.watermarks.Last // what was stored up to here was stored as a whole
	if e.watermarks.unknown {
		whole = e.Stored.stream.CachedInfo().State.LastSeq
	}
	for next := max(whole, sluice.MaxItems) - sluice.MaxItems; ; {
		msg, err := stream.First(ctx, e.Stored.stream, max(1, next), stream.BatchPrefix+">")
		if msg == nil || err != nil {
			return err
		}
		next = msg.Sequence + 1
		call, err := correlation.ReadEnvelope(msg)
		if err != nil || call.Split == nil || msg.Sequence+uint64(call.Split.Events) <= whole {
			continue
		}
		if err := e.removeIfTorn(ctx, msg.Sequence, uint64(call.Split.Events)); err != nil {
			return err
		}
	}
}

// removeIfTorn removes a call and its events if one of those is missing. The call goes last: without
// it, nobody knew of the others.
func (e *Engine) removeIfTorn(ctx context.Context, call, events uint64) error {
	stored, torn := []uint64{call}, false
	for sequence := call + 1; sequence <= call+events; sequence++ {
		msg, err := stream.Found(e.Stored.stream.GetMsg(ctx, sequence))
		if err != nil {
			return err
		}
		if msg != nil {
			stored = append(stored, sequence)
		}
		torn = torn || msg == nil && !e.forgotten.has(sequence)
	}
	if !torn {
		return nil
	}
	e.host.Log.Warn("A call that was being stored with its events was removed. Nobody was told that it is stored.",
		"events", events, "stored", len(stored)-1)
	e.damage.cutOff++
	if err := e.forgotten.add(ctx, stored); err != nil {
		return err
	}
	e.watermarks.Forgets = true
	if err := e.watermarks.store(e.opts.Dir); err != nil {
		return err
	}
	for _, sequence := range slices.Backward(stored) {
		if err := stream.Remove(ctx, e.Stored.stream, sequence, false); err != nil {
			return err
		}
	}
	return nil
}
