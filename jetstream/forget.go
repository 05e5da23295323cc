package jetstream

import (
	"context"
	"slices"
	"strconv"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/queue"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
)

// forget removes events, and the payloads in all that was made of them. With overwrite
// their bytes on disk are overwritten.
func (e *Engine) forget(ctx context.Context, events []correlation.Envelope, overwrite bool) error {
	if len(events) == 0 {
		return nil
	}
	sequences, ran := make([]uint64, len(events)), make(map[uint64]string)
	letters := make(map[string]bool)
	oldest := slices.MinFunc(events, func(a, b correlation.Envelope) int { return a.Received.Compare(b.Received) }).
		Received
	if overwrite { // letters from before the clock was set back stand before older ones
		oldest = time.Time{}
	}
	for i, event := range events {
		sequences[i] = event.Sequence
		if len(event.Listeners) > 0 || overwrite {
			ran[event.Sequence] = event.TraceID
			letters[e.Stored.ids.ID(event.Sequence, event.TraceID)] = true
		}
	}
	err := e.Journal.Remember(ctx, events, overwrite)
	if err != nil && overwrite { // otherwise room counts for more
		return err
	}
	if err := e.forgotten.add(ctx, sequences); err != nil {
		return err
	}
	if err := e.writeWatermarks(ctx); err != nil {
		return err
	}
	waiting, err := e.waiting(ctx, events)
	if err != nil {
		return err
	}
	for _, event := range events {
		if err := e.remove(ctx, event, ran[event.Sequence] != "", overwrite); err != nil {
			return err
		}
	}
	names := []string{stream.Events}
	if len(ran) > 0 {
		names = append(names, stream.Results, stream.Waiting, stream.DeadLetters, stream.Journal)
		if err := e.DeadLetters.Forget(ctx, letters, oldest); err != nil {
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
	for _, withdrawn := range waiting {
		e.settled(withdrawn)
	}
	return nil
}

// remove removes an event. What waits of one that was run goes first: after a kill in between, its
// call would wait for an event that is gone.
func (e *Engine) remove(ctx context.Context, event correlation.Envelope, ran, overwrite bool) error {
	if ran {
		if err := e.Queue.Forget(ctx, event.Sequence, event.TraceID, overwrite); err != nil {
			return err
		}
	}
	return stream.Remove(ctx, e.Stored.stream, event.Sequence, overwrite)
}

// waiting withdraws those events that wait for pipelines, and returns what is to be told of that: these have failed.
// The end of what has set them off is told once.
func (e *Engine) waiting(ctx context.Context, events []correlation.Envelope) (withdrawn []queue.Settled, err error) {
	told := make(map[string]bool)
	for _, event := range events {
		origin := e.Queue.OriginOf(event)
		for _, name := range event.Listeners {
			outcome, err := e.Queue.Outcome(ctx, event, name)
			s := queue.Settled{
				Sequence: event.Sequence, TraceID: event.TraceID, Origin: origin, Decides: origin != "",
				Outcome: sluice.Outcome{Pipeline: name, Status: sluice.StatusError},
			}
			switch {
			case err != nil && sluice.AsError(err).Kind != sluice.Gone:
				return nil, err
			case err != nil || outcome != nil:
			case e.Queue.Withdraw(name, s):
				told[origin] = true // at its end
			default:
				withdrawn = append(withdrawn, s)
			}
		}
	}
	for i := range withdrawn {
		s := &withdrawn[i]
		s.Decides = s.Decides && !told[s.Origin]
		told[s.Origin] = true
	}
	return withdrawn, nil
}

// outcome returns what a pipeline has made of an event. One that was removed on purpose is not waited for.
func (e *Engine) outcome(ctx context.Context, of correlation.Envelope, pipeline string) (*sluice.Outcome, error) {
	outcome, err := e.Queue.Outcome(ctx, of, pipeline)
	isStored := outcome != nil && outcome.Stored > 0 // otherwise the pipeline may have gone later
	if !isStored && err == nil && e.forgotten.has(of.Sequence) && !e.Queue.Works(pipeline, of.Sequence) {
		return nil, queue.Gone()
	}
	return outcome, err
}

// forgottenEvents is how many events one record tells of.
const forgottenEvents = 8192

// forgotten says which of successive events were removed on purpose, a bit for each. By it
// a start tells them from events that the disk has lost.
type forgotten struct {
	Bits []byte `json:"bits"`
}

// forgottenSet has the events that were removed on purpose.
type forgottenSet struct{ *record.Bucket[forgotten] }

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
		if _, err := s.ChangeEarly(ctx, key,
			func(*forgotten, map[string]*forgotten) (*forgotten, error) { return nil, nil }); err != nil {
			return err
		}
	}
	return nil
}

func forgottenKey(sequence uint64) string { return strconv.FormatUint(sequence/forgottenEvents, 10) }
