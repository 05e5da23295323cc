package jetstream

import (
	"context"
	"time"

	"sluice/jetstream/record"
	"sluice/seal"
)

// moveTimeout bounds how long Rekey may take.
const moveTimeout = 10 * time.Minute

// generation returns the current generation of the buckets. Records that an earlier version
// stored in clear are moved to it first.
func (e *Engine) generation(ctx context.Context) (record.Generation, error) {
	if err := e.server.usable(ctx); err != nil {
		return record.Generation{}, err
	}
	// Without a deadline each request has one of its own, so a lost reply costs no
	// more than that.
	current, err := e.generations(nil).Current(ctx)
	if err != nil {
		return current, err
	}
	e.sealed, err = current.State()
	return current, err
}

func (e *Engine) generations(progress func(step string)) *record.Generations {
	g := &record.Generations{Host: e.host, Buckets: []string{e.keys.Name()}, Box: e.opts.Box, Kept: e.watermarks.Sealed, Damaged: e.addDamage, Begin: e.opts.Begin, Progress: progress}
	for _, b := range e.buckets() {
		g.Buckets = append(g.Buckets, b.Name())
	}
	return g
}

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
	if err := e.generations(progress).Rekey(ctx, box); err != nil {
		return err
	}
	return e.losses.forget()
}
