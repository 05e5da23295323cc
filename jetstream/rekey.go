package jetstream

import (
	"context"
	"errors"
	"time"

	"sluice/jetstream/record"
	"sluice/seal"
)

// moveTimeout bounds how long Rekey may take.
const moveTimeout = 10 * time.Minute

// Rekey seals all records with a new key, while nobody uses the engine. If it is
// interrupted, the engine opens with the old key or with the new one, and another call
// finishes the work.
func Rekey(ctx context.Context, opts Options, box *seal.Box, progress func(step string)) error {
	e := build(opts)
	ctx, e.cancel = context.WithTimeout(ctx, moveTimeout)
	defer e.Close()
	if err := e.server.connect(); err != nil {
		return err
	}
	if err := e.server.usable(ctx); err != nil {
		return err
	}
	if opts.URL != "" {
		if err := e.keepSpoolKey(ctx); err != nil {
			return err
		}
	}
	if err := e.generations(progress).Rekey(ctx, box); err != nil || opts.URL != "" {
		return err
	}
	e.watermarks.Buckets, e.watermarks.Sealed = nil, nil // records with a new key are in new buckets
	return e.watermarks.store(opts.Dir)
}

// keepSpoolKey keeps the key of spools before the key that it is made of is replaced: calls may
// still wait in one.
func (e *Engine) keepSpoolKey(ctx context.Context) error {
	generation, err := e.generation(ctx)
	if errors.Is(err, seal.ErrOtherKey) {
		return nil // it was replaced already, by an attempt that was interrupted
	}
	if err != nil {
		return err
	}
	if err := e.keys.SetUp(ctx, ctx, generation); err != nil {
		return err
	}
	key, err := e.opts.spoolKey()
	if err != nil {
		return err
	}
	_, err = e.keys.ChangeEarly(ctx, spoolKey+fingerprint(key),
		func(*record.Key, map[string]*record.Key) (*record.Key, error) {
			return &record.Key{Key: key}, nil
		})
	return err
}
