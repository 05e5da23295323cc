package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/seal"
)

const (
	stopFile  = "stopped" // what a clean stop leaves
	marksFile = "marks"   // what says how much there was

	damageEvents   = 4000
	damageWebhooks = 20
)

// A wholeStore is a store that nothing has happened to yet, and what is in it.
type wholeStore struct {
	dir string
	ids []string // correlation ids of the events
}

func damageOptions(dir string) jetstream.Options {
	return jetstream.Options{
		Dir: dir, EventMaxAge: time.Hour, EventMaxBytes: 64 << 20, ResultTTL: time.Hour,
		Box: func(bool) (*seal.Box, error) { return seal.New(make([]byte, seal.KeySize)) },
		Log: slog.New(slog.DiscardHandler),
	}
}

// fillStore makes a store of some blocks of events, webhooks, and a pipeline that
// has run for some events.
func fillStore(ctx context.Context, dir string) (*wholeStore, error) {
	e, err := jetstream.Open(ctx, damageOptions(dir))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	for i := range damageWebhooks {
		token := fmt.Sprintf("b82c8627-4ca1-4c7a-b273-2bfd67c0%04d", i)
		_, err := e.Webhooks.Change(ctx, token,
			func(*sluice.Webhook, map[string]*sluice.Webhook) (*sluice.Webhook, error) {
				return &sluice.Webhook{UUID: token, EventKey: fmt.Sprint("webhook.", i)}, nil
			})
		if err != nil {
			return nil, err
		}
	}
	binding, err := e.Queue.Bind(ctx, sluice.EventPrefix+"webhook.0", 16)
	if err != nil {
		return nil, err
	}
	p := &sluice.Pipeline{Name: "p", Binding: binding}
	if _, err := e.Pipelines.Change(ctx, "p",
		func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error) { return p, nil }); err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	var consuming sync.WaitGroup
	consuming.Go(func() {
		e.Queue.Consume(running, p, sluice.Handler{Run: func(sluice.Delivery) (sluice.Outcome, error) {
			return sluice.Outcome{
				Pipeline: "p", Status: sluice.StatusOK, StatusCode: 200, Value: []byte("1"), Attempts: 1,
				Finished: time.Now(),
			}, nil
		}})
	})
	defer consuming.Wait()
	defer stop()
	w := &wholeStore{dir: dir, ids: make([]string, damageEvents)}
	return w, w.fill(ctx, e)
}

func (w *wholeStore) fill(ctx context.Context, e *jetstream.Engine) error {
	var all sync.WaitGroup
	failed := make([]error, 32)
	for worker := range failed {
		all.Go(func() {
			for i := worker; i < damageEvents; i += len(failed) {
				text := strings.Repeat("x", 2500)
				event := &sluice.Event{
					EventKey: fmt.Sprint("webhook.", i%damageWebhooks),
					TraceID:  sluice.NewTraceID("abcdef", time.Now()), ReceivedAt: time.Now(),
					Payload: []byte(`"` + text + `"`), PayloadType: sluice.Raw, Method: "POST",
				}
				result, err := e.Events.Accept(ctx, event, time.Second)
				if err != nil {
					failed[worker] = err
					return
				}
				w.ids[i] = result.CorrelationID
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// A damageFinding is what a store was like after a damage.
type damageFinding struct {
	problem  string // why it does not serve; "" if it does
	lost     int    // events that can't be read any more
	told     int    // events that are said to be lost
	webhooks int
	bound    bool // the pipeline is there
	warnings []string
}

// judge says what is wrong with a finding, "" if nothing is.
func (f damageFinding) judge() string {
	switch {
	case f.problem != "":
		return ""
	case f.lost != f.told:
		return fmt.Sprintf("%d events are lost, %d are said to be", f.lost, f.told)
	case f.lost > 0 && len(f.warnings) == 0:
		return "events are lost, and there is no warning"
	case f.webhooks != damageWebhooks || !f.bound:
		return fmt.Sprintf("%d of %d webhooks are left, and the server serves", f.webhooks, damageWebhooks)
	}
	return ""
}

// try damages a copy of the store, starts an engine on it, and looks for
// everything.
func (w *wholeStore) try(
	ctx context.Context, dir string, c damageCase, further func(dir string) error,
) (f damageFinding, err error) {
	if err := os.RemoveAll(dir); err != nil {
		return f, err
	}
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		return f, err
	}
	if c.killed {
		if err := pretendKill(dir); err != nil {
			return f, err
		}
	}
	if err := c.harm.do(filepath.Join(dir, c.file)); err != nil {
		return f, err
	}
	if further != nil {
		if err := further(dir); err != nil {
			return f, err
		}
	}
	e, err := jetstream.Open(ctx, damageOptions(dir))
	if err != nil {
		f.problem = err.Error()
		return f, nil
	}
	defer e.Close()
	if err := e.Ready(); err != nil {
		f.problem = err.Error()
		return f, nil
	}
	for _, id := range w.ids {
		_, err := e.Results.Result(ctx, id, 0)
		if err != nil && !w.resultIsGone(ctx, e, id) {
			f.lost++
		}
	}
	stats, _ := e.Stats(ctx) // with an error it is what could be told
	f.told, f.webhooks, f.warnings = int(stats.Lost), stats.Webhooks, stats.Warnings
	p, err := e.Pipelines.Get(ctx, "p")
	f.bound = p != nil && p.Binding != nil
	return f, err
}

// resultIsGone reports whether an event is there, and only what a pipeline has made of
// it is not.
func (w *wholeStore) resultIsGone(ctx context.Context, e *jetstream.Engine, id string) bool {
	_, err := e.Journal.Event(ctx, id)
	return err == nil
}

// pretendKill makes a store look as after a kill.
func pretendKill(dir string) error {
	indexes, err := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", "*", "msgs", "index.db"))
	for _, name := range append(indexes, filepath.Join(dir, stopFile)) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// negative is the negative control: with the files gone that say how much there
// was, a loss is not told, and that has to be noticed.
func (w *wholeStore) negative(ctx context.Context, dir string) (blind bool, err error) {
	c := damageCase{
		file: filepath.Join("jetstream", "$G", "streams", eventStream, "msgs", "1.blk"), harm: fileHarms[2],
		killed: true,
	}
	found, err := w.try(ctx, dir, c, func(dir string) error { return os.Remove(filepath.Join(dir, marksFile)) })
	return found.judge() == "", err
}
