package deadletter

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

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
	unknown := sluice.Errorf(sluice.CodeLetterUnknown,
		"There is no such dead letter; deadletter.get lists those there are.")
	if letter == nil {
		return unknown
	}
	err = l.stream.DeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return unknown
	}
	if err != nil {
		return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not delete the dead letter.").Because(err)
	}
	return l.host.SyncStream(stream.DeadLetters, "msgs")
}

// Forget removes the letters of events, by their correlation ids; the events came since a
// time. See stream.Remove.
func (l *Store) Forget(ctx context.Context, events map[string]bool, since time.Time, overwrite bool) error {
	for before := ""; ; {
		found, next, err := l.letters.Scan(ctx, stream.ScanQuery{From: since, Before: before, Limit: 1000},
			func(sequence uint64, d *sluice.DeadLetter) bool {
				d.Letter = strconv.FormatUint(sequence, 10)
				return events[d.CorrelationID]
			})
		if err != nil {
			return err
		}
		for _, letter := range found {
			sequence, _ := strconv.ParseUint(letter.Letter, 10, 64) // it was one
			if err := stream.Remove(ctx, l.stream, sequence, overwrite); err != nil {
				return err
			}
		}
		if before = next; next == "" {
			return nil
		}
	}
}
