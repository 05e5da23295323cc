package deadletter

import (
	"context"
	"maps"
	"strconv"
	"time"

	"sluice"
	"sluice/jetstream/stream"
)

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
	err := l.dropAll(ctx, repaired)
	if err != nil {
		l.mu.Lock()
		maps.Copy(l.repaired, repaired)
		l.mu.Unlock()
	}
	return err
}

func (l *Store) dropAll(ctx context.Context, repaired map[repair]bool) error {
	const page = 1000
	for before := ""; ; {
		found, next, err := l.letters.Scan(ctx, stream.ScanQuery{Before: before, Limit: page},
			func(sequence uint64, d *sluice.DeadLetter) bool {
				d.Letter = strconv.FormatUint(sequence, 10)
				return repaired[repair{d.Pipeline, d.CorrelationID}] || repaired[repair{d.Pipeline, firstOf(d)}]
			})
		if err != nil {
			return err
		}
		for _, letter := range found {
			if err := l.Drop(ctx, letter.Letter); err != nil && !sluice.CodeLetterUnknown.Is(err) {
				return err
			}
		}
		if before = next; next == "" {
			return nil
		}
	}
}
