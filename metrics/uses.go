package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice"
)

const (
	usesEvery = time.Second // how often uses are stored
	useLasts  = time.Minute // a thing's uses within this time are stored once
)

// Uses stores when things were last used, to the minute, in their records. Users of a thing
// don't wait for that.
type Uses[T any] struct {
	store sluice.Records[T]
	of    func(record *T, part string) *time.Time
	log   *slog.Logger

	mu   sync.Mutex
	used map[use]time.Time // since the last flush
}

// A use is of the record with a name, or of a part of it.
type use struct{ name, part string }

// NewUses returns the uses of the records in a store. of returns the field with the last use
// of a part of a record, in which it may replace what the original shares with it; nil if it
// has no such part. Nothing is stored until Keep runs.
func NewUses[T any](store sluice.Records[T], of func(record *T, part string) *time.Time, log *slog.Logger) *Uses[T] {
	return &Uses[T]{store: store, of: of, log: log, used: map[use]time.Time{}}
}

// Note notes that the thing with that name is used now. The thing must exist: names that
// callers invent would fill the memory.
func (u *Uses[T]) Note(name string) { u.NotePart(name, "") }

// NotePart notes that a part of the thing with that name is used now.
func (u *Uses[T]) NotePart(name, part string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[use{name, part}] = time.Now().UTC().Truncate(time.Second)
}

// Keep stores uses until ctx ends.
func (u *Uses[T]) Keep(ctx context.Context) { flushAlways(ctx, usesEvery, u.flush) }

// flush stores the noted uses. It drops what it can't store: the next use will come.
func (u *Uses[T]) flush(ctx context.Context) {
	u.mu.Lock()
	used := u.used
	u.used = map[use]time.Time{}
	u.mu.Unlock()
	for of, at := range used {
		if err := u.put(ctx, of, at); err != nil {
			u.log.Warn("When something was last used could not be stored.", "error", err)
			return
		}
	}
}

func (u *Uses[T]) put(ctx context.Context, of use, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	stored, err := u.store.Get(ctx, of.name)
	if err != nil || u.after(stored, of.part, at) == nil {
		return err
	}
	_, err = sluice.Replace(ctx, u.store, of.name, func(before *T) (*T, error) {
		if after := u.after(before, of.part, at); after != nil {
			return after, nil
		}
		return nil, sluice.ErrUnchanged
	})
	return err
}

// after returns a record with a use in it, nil if that is not worth storing.
func (u *Uses[T]) after(before *T, part string, at time.Time) *T {
	if before == nil {
		return nil
	}
	after := *before
	last := u.of(&after, part)
	if last == nil || at.Sub(*last) < useLasts {
		return nil
	}
	*last = at
	return &after
}
