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
	// usesEvery is how often uses are stored.
	usesEvery = time.Second
	// useLasts is how exactly the last use of a thing is known: within that time
	// it is stored once, however often the thing is used.
	useLasts = time.Minute
)

// Uses stores in records when the things that they are about were last used, to
// the minute. Nothing that uses them waits for it.
type Uses[T any] struct {
	store sluice.Records[T]
	of    func(*T) *time.Time
	log   *slog.Logger

	mu   sync.Mutex
	used map[string]time.Time // since the last time that uses were stored
}

// NewUses returns the uses of what a store has; of says where in a record the
// last one is. Nothing is stored until Keep runs.
func NewUses[T any](store sluice.Records[T], of func(*T) *time.Time, log *slog.Logger) *Uses[T] {
	return &Uses[T]{store: store, of: of, log: log, used: make(map[string]time.Time)}
}

// Note notes that the thing of that name is used now. It must be there: names
// that callers make up would fill the memory.
func (u *Uses[T]) Note(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[name] = time.Now().UTC().Truncate(time.Second)
}

// Keep stores what is noted, until ctx ends.
func (u *Uses[T]) Keep(ctx context.Context) {
	tick := time.NewTicker(usesEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			u.flush(ctx)
		case <-ctx.Done():
			u.flush(context.WithoutCancel(ctx))
			return
		}
	}
}

// flush stores what was noted. What can't be stored is forgotten: the next use
// comes.
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
