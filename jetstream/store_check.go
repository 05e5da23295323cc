package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/jetstream/record"
)

// storeCheck is the lossCheck of the embedded engine. It compares the store with its
// watermarks.
type storeCheck struct {
	*Engine

	mu sync.Mutex // held while watermarks are written
}

// forget implements lossCheck: records with a new key are in new buckets.
func (e *storeCheck) forget() error {
	e.watermarks.Buckets, e.watermarks.Sealed = nil, nil
	return e.watermarks.store(e.opts.Dir)
}

// write implements lossCheck. It writes only if something has changed.
func (e *storeCheck) write(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := watermarks{
		First: e.Stored.first.Load(), Last: e.Stored.writer.Durable(), Key: e.keyPrint,
		Buckets: make(map[string]record.Extent), Streams: e.host.Durable(), Sealed: e.sealed,
		Forgets: e.watermarks.Forgets || e.forgotten.Count() > 0,
	}
	for _, b := range e.withKeys() {
		has, err := b.Extent(ctx)
		if err != nil {
			return err
		}
		now.Buckets[has.Bucket] = record.Extent{Revision: has.Revision, Records: has.Records}
	}
	if now.First == e.watermarks.First && now.Last == e.watermarks.Last && now.Key == e.watermarks.Key &&
		maps.Equal(now.Buckets, e.watermarks.Buckets) && maps.Equal(now.Streams, e.watermarks.Streams) &&
		bytes.Equal(now.Sealed, e.watermarks.Sealed) && now.Forgets == e.watermarks.Forgets {
		return nil
	}
	if err := now.store(e.opts.Dir); err != nil {
		e.host.Fail(fmt.Errorf("marks: %w", err))
		return err
	}
	e.watermarks = now
	return nil
}

func (e *storeCheck) checkKeys(ctx context.Context) (damaged bool, err error) {
	problem, err := e.checkBuckets(ctx, e.keys)
	return e.refuses(problem), err
}

func (e *storeCheck) check(ctx context.Context) (damaged bool, err error) {
	problem, err := e.checkBuckets(ctx, e.all...)
	if err != nil {
		return false, err
	}
	if e.refuses(cmp.Or(problem, e.checkKeyPrint())) {
		return true, nil
	}
	return false, e.Stored.checkWhole(ctx, e.watermarks, e.damage.add)
}

// keepWatermarks writes the watermarks again and again, until ctx ends.
func (e *Engine) keepWatermarks(ctx context.Context) {
	e.host.Every(ctx, watermarkEvery, func(time.Time) {
		if err := e.losses.write(ctx); err != nil && ctx.Err() == nil && e.host.Ready() == nil {
			e.host.Log.Warn("How much is stored could not be written down.", "error", err)
		}
	})
}

// checkBuckets compares buckets with the watermarks. If one has shrunk, the engine must not
// serve, and problem says why. Shrunk statistics are only a warning.
func (e *Engine) checkBuckets(ctx context.Context, buckets ...bucket) (problem string, err error) {
	var shrunk []string
	for _, b := range buckets {
		has, err := b.Extent(ctx)
		if err != nil {
			return "", err
		}
		text := e.watermarks.shrunk(b.Name(), has)
		if text == "" {
			continue
		}
		e.damage.add(text)
		if !slices.Contains(statistics, b.Name()) {
			shrunk = append(shrunk, text)
		}
	}
	if len(shrunk) == 0 {
		return "", nil
	}
	return lostRecords(strings.Join(shrunk, "; ")), nil
}

// checkKeyPrint compares the key of the correlation ids with the watermarks.
func (e *Engine) checkKeyPrint() (problem string) {
	if e.watermarks.Key == "" || e.watermarks.Key == e.keyPrint {
		return ""
	}
	const text = "the key of the correlation ids is lost, so results of earlier calls can't be polled"
	e.damage.add(text)
	return lostRecords(text)
}

// refuses keeps the engine from serving if there is a problem, and reports whether there is.
func (e *Engine) refuses(problem string) bool {
	if problem == "" {
		return false
	}
	e.host.SetProblem(problem)
	e.host.Log.Error("The engine's store is damaged; refusing to serve.", "problem", problem)
	return true
}
