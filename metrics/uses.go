package metrics

import (
	"context"
	"errors"
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
	of    func(*T) *time.Time
	log   *slog.Logger

	mu   sync.Mutex
	used map[string]time.Time // since the last flush
}

// NewUses returns the uses of the records in a store. of returns the field with the last use.
// Nothing is stored until Keep runs.
func NewUses[T any](store sluice.Records[T], of func(*T) *time.Time, log *slog.Logger) *Uses[T] {
	return &Uses[T]{store: store, of: of, log: log, used: make(map[string]time.Time)}
}

// Note notes that the thing with that name is used now. The thing must exist: names that
// callers invent would fill the memory.
func (u *Uses[T]) Note(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[name] = time.Now().UTC().Truncate(time.Second)
}

// Keep stores uses until ctx ends.
func (u *Uses[T]) Keep(ctx context.Context) { flushAlways(ctx, usesEvery, u.flush) }

// flushAlways calls flush regularly until ctx ends, and then once more.
func flushAlways(ctx context.Context, every time.Duration, flush func(context.Context)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			flush(ctx)
		case <-ctx.Done():
			flush(context.WithoutCancel(ctx))
			return
		}
	}
}

// flush stores the noted uses. It drops what it can't store: the next use will come.
func (u *Uses[T]) flush(ctx context.Context) {
	u.mu.Lock()
	used := u.used
	u.used = make(map[string]time.Time)
	u.mu.Unlock()
	for name, at := range used {
		if err := u.put(ctx, name, at); err != nil {
			u.log.Warn("When something was last used could not be stored.", "error", err)
			return
		}
	}
}

func (u *Uses[T]) put(ctx context.Context, name string, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	stored, err := u.store.Get(ctx, name)
	if err != nil || stored == nil || at.Sub(*u.of(stored)) < useLasts {
		return err
	}
	_, err = u.store.Change(ctx, name, func(before *T, _ map[string]*T) (*T, error) {
		if before == nil {
			return nil, sluice.ErrUnchanged
		}
		after := *before
		*u.of(&after) = at
		return &after, nil
	})
	if errors.Is(err, sluice.ErrUnchanged) {
		return nil
	}
	return err
}
