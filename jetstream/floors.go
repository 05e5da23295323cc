package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// floors remember up to which event each pipeline is done, for the embedded
// engine. The engine keeps the state of a consumer without syncing it: a power
// cut may lose it, and then every event since the pipeline was stored comes
// again. Outcomes tell what is done as long as results are kept; floors tell it
// of what is older.
type floors struct {
	engine *Engine
	saved  map[string]uint64 // by binding, as an earlier process has left them
}

// floorsEvery is how often floors are written, if they have changed.
const floorsEvery = 15 * time.Second

func (f *floors) path() string { return filepath.Join(f.engine.opts.Dir, "floors.json") }

// load reads the floors of an earlier process. One above the newest event of the
// stream is lowered to that: the events above are lost, and their places are
// given to others.
func (f *floors) load(newest uint64) error {
	f.saved = make(map[string]uint64)
	text, err := os.ReadFile(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &f.saved); err != nil {
		f.engine.log.Warn("How far pipelines were can't be read; should the engine have lost that too, old events run again.", "error", err)
		f.saved = make(map[string]uint64)
	}
	for binding, floor := range f.saved {
		f.saved[binding] = min(floor, newest)
	}
	return nil
}

// keep writes floors down until ctx ends.
func (f *floors) keep(ctx context.Context) {
	written := f.saved
	tick := time.NewTicker(floorsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := f.current(ctx)
		if err == nil && !maps.Equal(now, written) {
			err = f.write(now)
			written = now
		}
		if err != nil && ctx.Err() == nil {
			f.engine.log.Warn("How far pipelines are could not be written down.", "error", err)
		}
	}
}

// current gives the floors as they are: an event is acknowledged once its
// outcome is on stable storage.
func (f *floors) current(ctx context.Context) (map[string]uint64, error) {
	now := make(map[string]uint64)
	consumers := f.engine.events.stream.ListConsumers(ctx)
	for info := range consumers.Info() {
		now[info.Name] = max(info.AckFloor.Stream, f.saved[info.Name])
	}
	return now, consumers.Err()
}

// write replaces the file by one that is on stable storage.
func (f *floors) write(now map[string]uint64) error {
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	next := f.path() + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	if err := syncFile(next); err != nil {
		return err
	}
	if err := os.Rename(next, f.path()); err != nil {
		return err
	}
	return syncFile(f.engine.opts.Dir)
}

// dropUnreadable removes the states of consumers that a power cut has left full
// of zeros, before the engine starts: it would refuse the consumers for ever.
func dropUnreadable(dir string) (dropped int, err error) {
	states, err := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", "*", "obs", "*", "o.dat"))
	if err != nil {
		return 0, err
	}
	for _, state := range states {
		content, err := os.ReadFile(state)
		if err != nil {
			return dropped, err
		}
		if len(content) == 0 || len(bytes.Trim(content, "\x00")) > 0 {
			continue
		}
		if err := os.Remove(state); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}
