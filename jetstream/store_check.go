package jetstream

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sluice/jetstream/record"
)

// writeWatermarks stores how much there is, so that a start notices what the disk has lost. It
// writes only if something has changed. An external engine has to look after its own disks.
func (e *Engine) writeWatermarks(ctx context.Context) error {
	if e.opts.URL != "" {
		return nil
	}
	e.marking.Lock()
	defer e.marking.Unlock()
	now := watermarks{
		First: e.Stored.first.Load(), Last: e.Stored.stream.Durable(), Key: e.keyPrint,
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
	if reflect.DeepEqual(now, e.watermarks) {
		return nil
	}
	if err := now.store(e.opts.Dir); err != nil {
		e.host.Fail(fmt.Errorf("marks: %w", err))
		return err
	}
	e.watermarks = now
	return nil
}

// checkKeys reports whether keys are missing, before new ones are made: then the engine must
// not serve.
func (e *Engine) checkKeys(ctx context.Context) (damaged bool, err error) {
	problem, err := e.checkBuckets(ctx, e.keys)
	return e.refuses(problem), err
}

// checkStore reports whether so much is missing that the engine must not serve.
func (e *Engine) checkStore(ctx context.Context) (damaged bool, err error) {
	problem, err := e.checkBuckets(ctx, e.all...)
	if err != nil || e.opts.URL != "" {
		return false, err
	}
	if e.refuses(cmp.Or(problem, e.checkKeyPrint())) {
		return true, nil
	}
	return false, e.Stored.checkWhole(ctx)
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
