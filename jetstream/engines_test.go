package jetstream

import (
	"log/slog"
	"testing"
	"time"

	"sluice/jetstream/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// onEverySetup runs a test on every set-up. Opened twice, two nodes share one
// store where the set-up allows for it.
func onEverySetup(t *testing.T, test func(t *testing.T, open func() *Engine, shared bool)) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		open := func() *Engine { return openEngine(t, Options{Dir: s.Dir, URL: s.URL, Replicas: s.Replicas}) }
		test(t, open, s.Shared)
	})
}

// openEngine opens an engine, waits until it is set up, and closes it with the
// test.
func openEngine(t *testing.T, opts Options) *Engine {
	t.Helper()
	e := openUnready(t, opts)
	select {
	case <-e.SetUp():
		return e
	case <-time.After(time.Minute):
		t.Fatalf("the engine was not set up in time: %v", e.Ready())
		return nil
	}
}

// openUnready opens an engine that need not be set up yet.
func openUnready(t *testing.T, opts Options) *Engine {
	t.Helper()
	if opts.Box == nil {
		opts.Box = natstest.Box
	}
	if opts.EventMaxAge == 0 {
		opts.EventMaxAge = time.Hour
	}
	if opts.ResultTTL == 0 {
		opts.ResultTTL = time.Hour
	}
	if opts.EventMaxBytes == 0 {
		opts.EventMaxBytes = 256 << 20
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	e, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}
