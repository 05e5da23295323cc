package jetstream

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/correlation"
	"sluice/jetstream/damage"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
	"sluice/wait"
)

// erasures implements sluice.Erasures. They are records, by trace id.
type erasures struct {
	*Engine

	records *record.Bucket[sluice.Erasure]
	heard   chan struct{} // has one while there are done ones

	mu   sync.Mutex
	done []sluice.Erasure // by any node, which the others have yet to make again
}

// newErasures returns the erasures of an engine. Its buckets are not set up yet.
func newErasures(e *Engine) *erasures {
	s := &erasures{Engine: e, heard: make(chan struct{}, 1)}
	add(&e.Records, &s.records, stream.Erasures)
	if !e.host.SoleWriter {
		s.records.Follow(func(before, after *sluice.Erasure) {
			if before != nil && before.Erased.IsZero() && after != nil && !after.Erased.IsZero() {
				s.hear(*after)
			}
		})
	}
	return s
}

// isAsked reports whether somebody wants a call erased.
func (s *erasures) isAsked(traceID string) bool { return s.records.Copy(traceID) != nil }

// isDone reports whether everything of a call is gone.
func (s *erasures) isDone(traceID string) bool {
	one := s.records.Copy(traceID)
	return one != nil && !one.Erased.IsZero()
}

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
	of := make(map[string]*sluice.Erasure)
	for _, c := range calls {
		one := of[c.TraceID]
		if one == nil {
			one = &sluice.Erasure{TraceID: c.TraceID, EventKey: c.EventKey, Time: c.Time}
			of[c.TraceID] = one
		}
		one.Quarantine = cmp.Or(c.Quarantine, one.Quarantine)
		for _, d := range c.Duplicates {
			if d.Quarantine != "" {
				one.Quarantined = append(one.Quarantined, d.Quarantine)
			}
		}
		if reference, ok := s.Stored.ids.Parse(c.CorrelationID); ok {
			one.Events = append(one.Events, reference.Sequence)
		}
	}
	all := make([]sluice.Erasure, 0, len(of))
	for _, one := range of {
		all = append(all, *one)
	}
	return s.Apply(ctx, all)
}

// Apply implements sluice.Erasures. Each erasure is noted before anything is erased, and as done
// when everything is gone; what is open is erased again.
func (s *erasures) Apply(ctx context.Context, list []sluice.Erasure) error {
	if err := s.host.Ready(); err != nil {
		return err
	}
	var open []sluice.Erasure
	for _, one := range list {
		noted, err := s.note(ctx, one)
		if err != nil {
			return err
		}
		if noted.Erased.IsZero() {
			open = append(open, *noted)
		}
	}
	return s.finish(ctx, open)
}

// note keeps an erasure. It is open again if there is more to it than before.
func (s *erasures) note(ctx context.Context, one sluice.Erasure) (noted *sluice.Erasure, err error) {
	_, err = sluice.Replace(ctx, s.records, one.TraceID, func(before *sluice.Erasure) (*sluice.Erasure, error) {
		after := one
		after.Asked, after.Erased = cmp.Or(one.Asked, time.Now().UTC()), time.Time{}
		if before != nil {
			after.Asked = cmp.Or(before.Asked, after.Asked)
			after.Events = union(before.Events, one.Events)
			after.Quarantine = cmp.Or(one.Quarantine, before.Quarantine)
			after.Quarantined = union(before.Quarantined, one.Quarantined)
			if isSameWork(&after, before) {
				noted = before
				return nil, sluice.ErrUnchanged
			}
		}
		noted = &after
		return noted, nil
	})
	return noted, err
}

func union[T cmp.Ordered](a, b []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// isSameWork reports whether two erasures of a call erase the same.
func isSameWork(a, b *sluice.Erasure) bool {
	return a.Quarantine == b.Quarantine && len(a.Events) == len(b.Events) && len(a.Quarantined) == len(b.Quarantined)
}

// finish erases what is open, and notes that it is done.
func (s *erasures) finish(ctx context.Context, open []sluice.Erasure) error {
	if len(open) == 0 {
		return nil
	}
	var events []correlation.Envelope
	for i := range open {
		one := &open[i]
		found, err := s.events(ctx, one)
		if err != nil {
			return err
		}
		events = append(events, found...)
		if err := s.eraseLoose(ctx, one); err != nil {
			return err
		}
	}
	if err := s.forget(ctx, events, true); err != nil {
		return err
	}
	if err := s.host.SyncStream(stream.Loose, "msgs"); err != nil {
		return err
	}
	if err := s.dropCopies(); err != nil {
		return err
	}
	for _, one := range open {
		if err := s.close(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// dropCopies removes what was set aside of damaged files: nothing can be erased within it.
func (s *erasures) dropCopies() (err error) {
	if s.opts.Dir != "" {
		err = damage.DropCopies(s.opts.Dir)
	}
	if s.opts.SpoolDir != "" {
		err = errors.Join(err, damage.DropCopies(durable.StoreIn(s.opts.SpoolDir)))
	}
	return err
}

// eraseLoose erases what there is of a call besides its events: in the quarantine, and of a run
// that a user has started.
func (s *erasures) eraseLoose(ctx context.Context, one *sluice.Erasure) error {
	for _, id := range append([]string{one.Quarantine}, one.Quarantined...) {
		if id == "" {
			continue
		}
		if _, err := s.Quarantine.Drop(ctx, id); err != nil {
			return err
		}
	}
	return s.Journal.Hide(ctx, map[uint64]string{0: one.TraceID}, true)
}

// close notes that an erasure is done, unless there is more to it by now.
func (s *erasures) close(ctx context.Context, one sluice.Erasure) error {
	_, err := sluice.Edit(ctx, s.records, one.TraceID, sluice.ErrUnchanged, func(noted *sluice.Erasure) error {
		if !noted.Erased.IsZero() || !isSameWork(noted, &one) {
			return sluice.ErrUnchanged
		}
		noted.Erased = time.Now().UTC()
		return nil
	})
	return err
}

// resumeEvery is how often what is open is tried again.
const resumeEvery = 30 * time.Second

// lateFor is how long after it was asked for an erasure is made again at a start: a run that went
// on meanwhile may have ended right before a kill.
const lateFor = time.Hour

// resume finishes what a failure or a kill has interrupted, at the start and from then on.
func (s *erasures) resume(running context.Context) {
	started := time.Now()
	isDue := func(one sluice.Erasure) bool { return one.Erased.IsZero() || started.Sub(one.Asked) < lateFor }
	for {
		open := slices.DeleteFunc(s.List(), func(one sluice.Erasure) bool { return !isDue(one) })
		if err := s.finish(running, open); err != nil && running.Err() == nil {
			s.host.Log.Warn("What was to be erased is not gone yet; trying on.", "calls", len(open), "error", err)
		} else if err == nil {
			isDue = func(one sluice.Erasure) bool { return one.Erased.IsZero() }
		}
		if wait.For(running, resumeEvery) != nil {
			return
		}
	}
}

// hear notes erasures that are done.
func (s *erasures) hear(done ...sluice.Erasure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, done...)
	select {
	case s.heard <- struct{}{}:
	default:
	}
}

// repeat makes each erasure again once it is done: when a node that shares the engine wrote down what it had
// heard of a call, it may not have known yet that this was being erased.
func (s *erasures) repeat(running context.Context) {
	for {
		select {
		case <-s.heard:
		case <-running.Done():
			return
		}
		s.mu.Lock()
		done := s.done
		s.done = nil
		s.mu.Unlock()
		if err := s.finish(running, done); err != nil && wait.For(running, resumeEvery) == nil {
			s.hear(done...)
		}
	}
}

// events returns the events of an erasure, with those that their runs have sent, however much later.
// One that is gone is among them: something that was made of it may still be there.
func (s *erasures) events(ctx context.Context, one *sluice.Erasure) (found []correlation.Envelope, err error) {
	for todo, seen := union(one.Events, nil), 0; seen < len(todo); seen++ {
		sequence := todo[seen]
		sent, err := s.Journal.SentBy(ctx, sequence, one.TraceID)
		if err != nil {
			return nil, err
		}
		sent = slices.DeleteFunc(sent, func(s uint64) bool { return s <= sequence }) // what is sent comes later
		todo = append(todo[:seen:seen], union(todo[seen:], sent)...)
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
		one, err := sluice.Edit(ctx, s.records, traceID, sluice.ErrUnchanged, func(one *sluice.Erasure) error {
			one.Erased, one.Events = time.Time{}, union(one.Events, []uint64{sequence})
			return nil
		})
		if err == nil && one != nil {
			err = s.finish(ctx, []sluice.Erasure{*one})
		}
		if err != nil {
			s.host.Log.Warn("What a run made of an erased event is still there; trying on.", "traceId", traceID,
				"error", err)
		}
	})
}
