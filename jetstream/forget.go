package jetstream

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// forgottenEvents is how many events one record tells of.
const forgottenEvents = 8192

// forgotten says which of successive events were removed on purpose, a bit for each. By it
// a start tells them from events that the disk has lost.
type forgotten struct {
	Bits []byte `json:"bits"`
}

// forgottenSet has the events that were removed on purpose.
type forgottenSet struct{ *record.Bucket[forgotten] }

func forgottenKey(sequence uint64) string { return strconv.FormatUint(sequence/forgottenEvents, 10) }

func (s forgottenSet) has(sequence uint64) bool {
	known, at := s.Copy(forgottenKey(sequence)), sequence%forgottenEvents
	return known != nil && known.Bits[at/8]&(1<<(at%8)) != 0
}

// add notes events, durably.
func (s forgottenSet) add(ctx context.Context, sequences []uint64) error {
	of := make(map[string][]uint64)
	for _, sequence := range sequences {
		of[forgottenKey(sequence)] = append(of[forgottenKey(sequence)], sequence%forgottenEvents)
	}
	for key, places := range of {
		_, err := s.ChangeEarly(ctx, key, func(before *forgotten, _ map[string]*forgotten) (*forgotten, error) {
			after := forgotten{make([]byte, forgottenEvents/8)}
			if before != nil {
				copy(after.Bits, before.Bits)
			}
			for _, at := range places {
				after.Bits[at/8] |= 1 << (at % 8)
			}
			return &after, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// drop drops what is known of events before the first stored one.
func (s forgottenSet) drop(ctx context.Context, first uint64) error {
	for i := range first / forgottenEvents {
		key := strconv.FormatUint(first/forgottenEvents-1-i, 10)
		if s.Copy(key) == nil {
			return nil
		}
		if _, err := s.ChangeEarly(ctx, key, func(*forgotten, map[string]*forgotten) (*forgotten, error) { return nil, nil }); err != nil {
			return err
		}
	}
	return nil
}

// forget removes events, and the payloads in all that was made of them. With overwrite
// their bytes on disk are overwritten.
func (e *Engine) forget(ctx context.Context, events []correlation.Envelope, overwrite bool) error {
	if len(events) == 0 {
		return nil
	}
	sequences, ran := make([]uint64, len(events)), make(map[uint64]string)
	letters := make(map[string]bool)
	oldest := slices.MinFunc(events, func(a, b correlation.Envelope) int { return a.Received.Compare(b.Received) }).Received
	for i, event := range events {
		sequences[i] = event.Sequence
		if len(event.Listeners) > 0 || overwrite {
			ran[event.Sequence] = event.TraceID
			letters[e.Stored.ids.ID(event.Sequence, event.TraceID)] = true
		}
	}
	if err := e.forgotten.add(ctx, sequences); err != nil {
		return err
	}
	if err := e.losses.write(ctx); err != nil {
		return err
	}
	for _, event := range events {
		if err := stream.Remove(ctx, e.Stored.stream, event.Sequence, overwrite); err != nil {
			return err
		}
		if ran[event.Sequence] == "" {
			continue
		}
		if err := e.Queue.Forget(ctx, event.Sequence, event.TraceID, overwrite); err != nil {
			return err
		}
	}
	names := []string{stream.Events}
	if len(ran) > 0 {
		names = append(names, stream.Results, stream.Waiting, stream.DeadLetters, stream.Journal)
		if err := e.DeadLetters.Forget(ctx, letters, oldest, overwrite); err != nil {
			return err
		}
		if err := e.Journal.Hide(ctx, ran, overwrite); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := e.host.SyncStream(name, "msgs"); err != nil {
			return err
		}
	}
	return nil
}

// keepEvery is how often events are looked for that their webhook no longer keeps.
const keepEvery = time.Second

// maxForgotten bounds the events that are forgotten at a time.
const maxForgotten = 500

// A keeping is how far the events of a webhook were looked through.
type keeping struct {
	keep time.Duration
	next map[string]uint64 // sequence to go on from, by subject
	due  time.Time         // no event is too old before then
}

// keepers are the webhooks that say how long their events are kept, by token. To look for
// them among a million would hold up calls.
type keepers struct{ sync.Map }

func (k *keepers) follow(before, after *sluice.Webhook) {
	switch {
	case after != nil && after.Keep > 0:
		k.Store(after.UUID, after)
	case before != nil && before.Keep > 0:
		k.Delete(before.UUID)
	}
}

// keepFor removes the events of webhooks that say how long they are kept, until ctx ends.
func (e *Engine) keepFor(ctx context.Context) {
	known := make(map[string]*keeping)
	e.host.Every(ctx, keepEvery, func(now time.Time) {
		maps.DeleteFunc(known, func(token string, _ *keeping) bool {
			_, keeps := e.keepers.Load(token)
			return !keeps
		})
		for token, value := range e.keepers.Range {
			hook := value.(*sluice.Webhook)
			k := known[token.(string)]
			if k == nil || k.keep != hook.Keep {
				k = &keeping{keep: hook.Keep, next: make(map[string]uint64)}
				known[token.(string)] = k
			}
			if now.Before(k.due) {
				continue
			}
			if err := e.expire(ctx, hook, k, now); err != nil && ctx.Err() == nil && e.host.Connected() == nil {
				e.host.Log.Warn("Events that are no longer kept could not be removed; trying on.", "eventKey", hook.EventKey, "error", err)
			}
		}
	})
}

// expire removes the events of a webhook that are too old.
func (e *Engine) expire(ctx context.Context, hook *sluice.Webhook, k *keeping, now time.Time) error {
	due, limit := now.Add(k.keep), now.Add(-k.keep)
	for _, subject := range []string{sluice.EventPrefix + hook.EventKey, stream.DirectPrefix + ">"} {
		for found := true; found; {
			var old []correlation.Envelope
			var at time.Time
			var err error
			old, at, found, err = e.older(ctx, hook.EventKey, subject, k, limit)
			if err != nil {
				return err
			}
			if !at.IsZero() && at.Add(k.keep).Before(due) {
				due = at.Add(k.keep)
			}
			if err := e.forget(ctx, old, false); err != nil {
				clear(k.next) // so that they are found again
				return err
			}
		}
	}
	k.due = due
	return e.forgotten.drop(ctx, e.Stored.first.Load())
}

// older returns events with a key on a subject that were stored before a limit; at is the
// time of the next one after it. More says that there may be further ones.
func (e *Engine) older(ctx context.Context, eventKey, subject string, k *keeping, limit time.Time) (old []correlation.Envelope, at time.Time, more bool, err error) {
	for len(old) < maxForgotten {
		msg, err := e.Stored.stream.GetMsg(ctx, k.next[subject]+1, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return old, at, false, nil
		}
		if err != nil {
			return old, at, false, stream.NoAnswer(err)
		}
		if !msg.Time.Before(limit) {
			return old, msg.Time, false, nil
		}
		k.next[subject] = msg.Sequence
		if envelope, err := correlation.ReadEnvelope(msg); err == nil && envelope.EventKey == eventKey {
			old = append(old, envelope)
		}
	}
	return old, at, true, nil
}

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
		_, err := s.records.Change(ctx, one.TraceID, func(before *sluice.Erasure, _ map[string]*sluice.Erasure) (*sluice.Erasure, error) {
			after := one
			if before != nil {
				after.Events = slices.Compact(slices.Sorted(slices.Values(slices.Concat(before.Events, one.Events))))
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
		msg, err := s.Stored.stream.GetMsg(ctx, sequence)
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil, stream.NoAnswer(err)
		}
		if err == nil {
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
		if err := s.forget(ctx, []correlation.Envelope{{Sequence: sequence, TraceID: traceID, Received: time.Now().Add(-stream.DeadLetterAge)}}, true); err != nil {
			s.host.Log.Error("What a run made of an erased event is still there; erase the call again.", "traceId", traceID, "error", err)
		}
	})
}
