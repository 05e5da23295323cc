package jetstream

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice"
	"sluice/jetstream/correlation"
	"sluice/jetstream/delivery"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/record"
	"sluice/seal"
)

// setUpUntilDone tries to set up an external engine until it works.
func (e *Engine) setUpUntilDone(ctx context.Context) {
	const pause = 500 * time.Millisecond
	logged := ""
	for {
		err := e.setUp(ctx, ctx)
		if err == nil {
			return
		}
		if ours, ok := errors.AsType[*sluice.Error](err); ok && ours.Kind == sluice.Invalid { // such as a wrong key
			e.host.Fail(err)
			return
		}
		if reason := explain(err, e.host.Conn); reason != logged {
			e.host.SetProblem(reason)
			e.host.Log.Error("The external engine can't be used yet; trying on.", "reason", reason, "error", err)
			logged = reason
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// setUp prepares streams and buckets, and starts what runs until running ends.
// A failed attempt stops what it has started.
func (e *Engine) setUp(ctx, running context.Context) (err error) {
	generation, err := e.generation(ctx)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(running)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	if err := e.keys.SetUp(ctx, running, generation); err != nil {
		return err
	}
	if damaged, err := e.losses.checkKeys(ctx); damaged || err != nil {
		return err // new keys would take the place of those in a backup
	}
	if err := e.useKeys(ctx); err != nil {
		return fmt.Errorf("key of the events: %w", err)
	}
	if err := e.setUpStores(ctx, running, generation); err != nil {
		return err
	}
	if damaged, err := e.losses.check(ctx); damaged || err != nil {
		return err // not ready, and the watermarks stay as they are
	}
	if err := e.Queue.DropUnbound(ctx); err != nil {
		return fmt.Errorf("bindings of pipelines: %w", err)
	}
	// The definitions of streams and buckets must be durable too, and so must what an
	// earlier process wrote before it was killed.
	if err := e.host.SyncStore(); err != nil {
		return err
	}
	e.Queue.Start(running)
	e.host.Start(func() { e.Stored.trim(running) })
	e.keepFor(running)
	e.host.Start(func() { e.Journal.Serve(running) })
	if err := e.server.watch(running); err != nil {
		return err
	}
	if e.Webhooks.Count() > manyRecords {
		debug.FreeOSMemory() // reading the records leaves garbage several times their size
	}
	e.host.SetReady()
	return nil
}

// setUpStores prepares streams and buckets, several at a time: a cluster takes a while for
// each.
func (e *Engine) setUpStores(ctx, running context.Context, in record.Generation) error {
	ids, err := e.correlationIDs(ctx)
	if err != nil {
		return fmt.Errorf("key of the correlation ids: %w", err)
	}
	refused, err := sharedKey(ctx, e.keys, quarantine.Key)
	if err != nil {
		return fmt.Errorf("key of the quarantine: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	start := func(what string, setUp func() error) {
		group.Go(func() error {
			if err := setUp(); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			return nil
		})
	}
	start("events", func() error {
		if err := e.Stored.setUp(ctx, running, ids); err != nil {
			return err
		}
		if err := e.once.SetUp(ctx, running, delivery.Stored{Stream: e.Stored.stream, IDs: ids, Durable: e.Stored.writer.Durable}); err != nil {
			return fmt.Errorf("deliveries: %w", err)
		}
		if e.fallback != nil {
			e.fallback.SetUp(ids, e.Stored.stream)
		}
		return e.Journal.SetUp(ctx, ids, e.Stored.stream.CachedInfo().Config)
	})
	start("results", func() error { return e.outcomes.SetUp(ctx, running, ids) })
	start("dead letters", func() error { return e.DeadLetters.SetUp(ctx, running) })
	start("waiting events", func() error { return e.waiting.SetUp(ctx, running) })
	start("audit log", func() error { return e.Audit.setUp(ctx, running) })
	start("quarantine", func() error { return e.Quarantine.SetUp(ctx, running, refused) })
	for _, b := range e.buckets() {
		group.Go(func() error { return b.SetUp(ctx, running, in) })
	}
	return group.Wait()
}

// manyRecords is how many webhooks make it worthwhile to free memory after the start, which
// takes longer than all the rest of an empty start.
const manyRecords = 1000

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
	g := &record.Generations{Host: e.host, Buckets: []string{e.keys.Name()}, Box: e.opts.Box, Kept: e.watermarks.Sealed, Damaged: e.addDamage, Progress: progress}
	for _, b := range e.buckets() {
		g.Buckets = append(g.Buckets, b.Name())
	}
	return g
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
	for _, name := range e.keys.Keys(func(*record.Key) bool { return true }) {
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
	_, err = e.keys.ChangeEarly(ctx, spoolKey+fingerprint(key), func(*record.Key, map[string]*record.Key) (*record.Key, error) {
		return &record.Key{Key: key}, nil
	})
	return err
}

// sharedKey returns a key that all nodes share. The first node makes it.
func sharedKey(ctx context.Context, keys *record.Bucket[record.Key], name string) ([]byte, error) {
	_, err := keys.ChangeEarly(ctx, name, func(before *record.Key, _ map[string]*record.Key) (*record.Key, error) {
		if before != nil {
			return nil, sluice.ErrUnchanged
		}
		fresh := make([]byte, 32)
		_, _ = rand.Read(fresh) // never fails
		return &record.Key{Key: fresh}, nil
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
