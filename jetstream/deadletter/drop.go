package deadletter

import (
	"context"
	"maps"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

// Drop implements sluice.DeadLetters.
func (l *Store) Drop(ctx context.Context, name string) error {
	if err := l.host.Ready(); err != nil {
		return err
	}
	letter, sequence, err := l.letter(ctx, name)
	if err != nil {
		return err
	}
	unknown := sluice.CodeLetterUnknown.Errorf(
		"There is no such dead letter; deadletter.get lists those there are.")
	if letter == nil {
		return unknown
	}
	err = l.stream.SecureDeleteMsg(ctx, sequence)
	if stream.IsGone(err) { // somebody else was faster
		return unknown
	}
	if err != nil {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not delete the dead letter.").Because(err)
	}
	return l.host.SyncStream(stream.DeadLetters, "msgs")
}

// Forget removes the letters of events, by their correlation ids; the events came since a time.
func (l *Store) Forget(ctx context.Context, events map[string]bool, since time.Time) error {
	return l.removeAll(ctx, since, func(d *sluice.DeadLetter) bool { return events[d.CorrelationID] })
}

// removeAll removes the letters that match, of those since a time. They are overwritten: once they are
// gone, an erasure does not find them any more.
func (l *Store) removeAll(ctx context.Context, since time.Time, matches func(*sluice.DeadLetter) bool) error {
	for before := ""; ; {
		var found []uint64
		_, next, err := l.letters.Scan(ctx, stream.ScanQuery{From: since, Before: before, Limit: 1000},
			func(sequence uint64, d *sluice.DeadLetter) bool {
				if matches(d) {
					found = append(found, sequence)
				}
				return false
			})
		if err != nil {
			return err
		}
		for _, sequence := range found {
			if err := stream.Remove(ctx, l.stream, sequence, true); err != nil {
				return err
			}
		}
		if before = next; next == "" {
			return nil
		}
	}
}

// A repair names the event of a letter.
type repair struct{ pipeline, correlationID string }

// dropEvery is how often the letters of events are dropped that a replay went well of: many
// are dropped at a time, since finding them means reading all letters.
const dropEvery = time.Second

// Repaired says that a replay of an event went well in a pipeline: its letter is dropped soon,
// if there is one.
func (l *Store) Repaired(pipeline, correlationID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.repaired[repair{pipeline, correlationID}] = true
}

func (l *Store) dropRepaired(ctx context.Context) error {
	l.mu.Lock()
	repaired := l.repaired
	l.repaired = make(map[repair]bool)
	l.mu.Unlock()
	if len(repaired) == 0 {
		return nil
	}
	err := l.removeAll(ctx, time.Time{}, func(d *sluice.DeadLetter) bool {
		return repaired[repair{d.Pipeline, d.CorrelationID}] || repaired[repair{d.Pipeline, firstOf(d)}]
	})
	if err == nil {
		return l.host.SyncStream(stream.DeadLetters, "msgs")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.repaired, repaired)
	return err
}
