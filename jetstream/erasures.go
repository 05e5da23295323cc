package jetstream

import (
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// erasures implements sluice.Erasures. They are records, by trace id.
type erasures struct {
	*Engine

	records *record.Bucket[sluice.Erasure]
}

// has reports whether a call was erased.
func (s *erasures) has(traceID string) bool { return s.records.Copy(traceID) != nil }

// List implements sluice.Erasures.
func (s *erasures) List() []sluice.Erasure {
	records := s.records.All()
	all := make([]sluice.Erasure, 0, len(records))
	for _, one := range records {
		all = append(all, *one)
	}
	return all
}

// Erase implements sluice.Erasures.
func (s *erasures) Erase(ctx context.Context, calls []sluice.Call) error {
	of, now := make(map[string]*sluice.Erasure), time.Now().UTC()
	order := make([]sluice.Erasure, 0, len(calls))
	for _, c := range calls {
		one := of[c.TraceID]
		if one == nil {
			one = &sluice.Erasure{TraceID: c.TraceID, EventKey: c.EventKey, Time: c.Time, Erased: now}
			of[c.TraceID] = one
		}
		if c.Quarantine != "" {
			one.Quarantine = c.Quarantine
		}
		if reference, ok := s.Stored.ids.Parse(c.CorrelationID); ok {
			one.Events = append(one.Events, reference.Sequence)
		}
	}
	for _, one := range of {
		order = append(order, *one)
	}
	return s.Apply(ctx, order)
}

// Apply implements sluice.Erasures. It keeps each erasure before it erases anything, so that
// one that was interrupted can be made again.
func (s *erasures) Apply(ctx context.Context, list []sluice.Erasure) error {
	if err := s.host.Ready(); err != nil {
		return err
	}
	var events []correlation.Envelope
	for _, one := range list {
		_, err := s.records.Change(ctx, one.TraceID,
			func(before *sluice.Erasure, _ map[string]*sluice.Erasure) (*sluice.Erasure, error) {
				after := one
				if before != nil {
					after.Events = slices.Compact(slices.Sorted(slices.Values(slices.Concat(before.Events,
						one.Events))))
				}
				return &after, nil
			})
		if err != nil {
			return err
		}
		found, err := s.events(ctx, &one)
		if err != nil {
			return err
		}
		events = append(events, found...)
		if one.Quarantine != "" {
			if _, err := s.Quarantine.Drop(ctx, one.Quarantine); err != nil {
				return err
			}
		}
		if len(one.Events) == 0 {
			if err := s.Journal.Hide(ctx, map[uint64]string{0: one.TraceID}, true); err != nil {
				return err
			}
		}
	}
	if err := s.forget(ctx, events, true); err != nil {
		return err
	}
	return s.host.SyncStream(stream.Loose, "msgs")
}

// events returns the events of an erasure. One that is gone is among them: something that
// was made of it may still be there.
func (s *erasures) events(ctx context.Context, one *sluice.Erasure) (found []correlation.Envelope, err error) {
	for _, sequence := range one.Events {
		e := correlation.Envelope{Sequence: sequence, TraceID: one.TraceID, Received: one.Time}
		msg, err := stream.Found(s.Stored.stream.GetMsg(ctx, sequence))
		if err != nil {
			return nil, err
		}
		if msg != nil {
			if e, err = correlation.ReadEnvelope(msg); err != nil || e.TraceID != one.TraceID {
				continue // another event has this place
			}
		}
		found = append(found, e)
	}
	return found, nil
}

// eraseLate erases what a run made of an event that was erased meanwhile.
func (s *erasures) eraseLate(sequence uint64, traceID string) {
	s.host.Start(func() {
		ctx, cancel := context.WithTimeout(context.Background(), trimTimeout)
		defer cancel()
		if err := s.forget(ctx,
			[]correlation.Envelope{{
				Sequence: sequence, TraceID: traceID, Received: time.Now().Add(-stream.DeadLetterAge),
			}}, true); err != nil {
			s.host.Log.Error("What a run made of an erased event is still there; erase the call again.",
				"traceId", traceID, "error", err)
		}
	})
}
