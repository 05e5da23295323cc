package jetstream

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice"
	"sluice/jetstream/quarantine"
	"sluice/jetstream/record"
	"sluice/wait"
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
		if reason := explain(err); reason != logged {
			e.host.SetProblem(reason)
			e.host.Log.Error("The external engine can't be used yet; trying on.", "reason", reason, "error", err)
			logged = reason
		}
		if wait.For(ctx, pause) != nil {
			return
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
	if damaged, err := e.checkKeys(ctx); damaged || err != nil {
		return err // new keys would take the place of those in a backup
	}
	if err := e.useKeys(ctx); err != nil {
		return fmt.Errorf("key of the events: %w", err)
	}
	if err := e.setUpStores(ctx, running, generation); err != nil {
		return err
	}
	if damaged, err := e.checkStore(ctx); damaged || err != nil {
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
	e.host.Start(func() { e.Erasures.resume(running) })
	e.host.Start(func() { e.Erasures.repeat(running) })
	if err := e.server.watch(running); err != nil {
		return err
	}
	e.host.Start(func() {
		if err := e.hearRepairs(running); err != nil && running.Err() == nil {
			e.host.Log.Warn("Calls that replays repaired before the start may be shown as failed.", "error", err)
		}
	})
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
	if err := e.forgotten.SetUp(ctx, running, in); err != nil {
		return err
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
		if err := e.removeTorn(ctx); err != nil {
			return err
		}
		if err := e.once.SetUp(ctx, running, e.Stored.stream, ids); err != nil {
			return fmt.Errorf("deliveries: %w", err)
		}
		if e.fallback != nil {
			e.fallback.SetUp(ids, e.Stored.stream)
		}
		return e.Journal.SetUp(ctx, running, ids, e.Stored.stream.CachedInfo().Config)
	})
	start("results", func() error { return e.Queue.Outcomes.SetUp(ctx, running, ids) })
	start("dead letters", func() error { return e.DeadLetters.SetUp(ctx, running) })
	start("waiting events", func() error { return e.Queue.Waiting.SetUp(ctx, running) })
	start("audit log", func() error { return e.Audit.setUp(ctx, running) })
	start("quarantine", func() error { return e.Quarantine.SetUp(ctx, running, refused) })
	for _, b := range e.all {
		if b.Name() != e.forgotten.Name() {
			group.Go(func() error { return b.SetUp(ctx, running, in) })
		}
	}
	return group.Wait()
}

// manyRecords is how many webhooks make it worthwhile to free memory after the start, which
// takes longer than all the rest of an empty start.
const manyRecords = 1000
