package jetstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/record"
	"sluice/seal"
)

// The names of the keys that messages are sealed with. A print follows that of a spool.
const (
	eventsKey = "events"
	spoolKey  = "spool."
)

// useKeys lets the host open what is sealed, also by nodes that are told to seal when this one
// is not.
func (e *Engine) useKeys(ctx context.Context) error {
	key, err := sharedKey(ctx, e.keys, eventsKey)
	if err != nil {
		return err
	}
	messages, err := seal.NewMessages(key)
	if err != nil {
		return err
	}
	e.host.UseKeys(messages, e.opts.SealEvents)
	if e.spool == nil {
		return nil
	}
	for _, name := range e.keys.Keys() {
		if strings.HasPrefix(name, spoolKey) {
			err = errors.Join(err, e.spool.keys.Learn(e.keys.Copy(name).Key))
		}
	}
	return err
}

// spoolKey returns the key that a spool seals with. The one of events is on the engine, which
// may be away.
func (o Options) spoolKey() ([]byte, error) {
	box, err := o.Box(true)
	if err != nil {
		return nil, err
	}
	return box.Derive(spoolKey)
}

// sharedKey returns a key that all nodes share. The first node makes it.
func sharedKey(ctx context.Context, keys *record.Bucket[record.Key], name string) ([]byte, error) {
	_, err := keys.ChangeEarly(ctx, name, func(before *record.Key, _ map[string]*record.Key) (*record.Key, error) {
		if before != nil {
			return nil, sluice.ErrUnchanged
		}
		return &record.Key{Key: sluice.RandomBytes(32)}, nil
	})
	if err != nil && !errors.Is(err, sluice.ErrUnchanged) {
		return nil, err
	}
	return keys.Copy(name).Key, nil
}

// fingerprint returns a short text that tells keys apart and does not show them.
func fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// correlationIDs returns the correlation ids that all nodes share.
func (e *Engine) correlationIDs(ctx context.Context) (ids correlation.IDs, err error) {
	key, err := sharedKey(ctx, e.keys, record.CorrelationKey)
	if err != nil {
		return ids, err
	}
	e.keyPrint = fingerprint(key)
	return correlation.NewIDs(key), nil
}

// generation returns the current generation of the buckets.
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
	g := &record.Generations{
		Host: e.host, Buckets: []string{e.keys.Name()}, Box: e.opts.Box, Kept: e.watermarks.Sealed,
		Damaged: e.damage.add, Progress: progress,
	}
	for _, b := range e.all {
		g.Buckets = append(g.Buckets, b.Name())
	}
	return g
}

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
