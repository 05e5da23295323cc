package journal_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream"
	"sluice/jetstream/natstest"
)

// patience bounds every wait of these tests: reaching it is a failure.
const patience = 3 * time.Minute

func TestMain(m *testing.M) { natstest.Main(m) }

// onEverySetup runs a test on every set-up. Opened twice, two nodes share one
// store where the set-up allows for it.
func onEverySetup(t *testing.T, test func(t *testing.T, open func() *jetstream.Engine, shared bool)) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		open := func() *jetstream.Engine {
			return openEngine(t, jetstream.Options{Dir: s.Dir, URL: s.URL, Replicas: s.Replicas})
		}
		test(t, open, s.Shared)
	})
}

// openEngine opens an engine, waits until it is set up, and closes it with the
// test.
func openEngine(t *testing.T, opts jetstream.Options) *jetstream.Engine {
	t.Helper()
	opts.EventMaxAge, opts.ResultTTL, opts.EventMaxBytes = time.Hour, time.Hour, 256<<20
	opts.Box = natstest.Box
	opts.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	e, err := jetstream.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.SetUp():
	case <-time.After(patience):
		t.Fatalf("the engine was not set up in time: %v", e.Ready())
	}
	return e
}

// crash returns a store as a crash at this moment would leave it: what is only
// in memory is not there.
func crash(t *testing.T, dir string) string {
	t.Helper()
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return left
}

// forget empties all that is kept beside the events.
func forget(t *testing.T, e *jetstream.Engine) {
	t.Helper()
	if err := e.Journal.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func event(traceID string) *sluice.Event {
	return &sluice.Event{
		EventKey: "webhook.test", TraceID: traceID, ReceivedAt: time.Now().UTC(), Method: "POST",
		Payload: json.RawMessage(`{"origin":"aGk="}`), PayloadType: sluice.Base64, PayloadEncoding: sluice.EncodingBase64,
	}
}

// bind stores a pipeline that listens to a pattern.
func bind(t *testing.T, e *jetstream.Engine, name, pattern string) *sluice.Pipeline {
	t.Helper()
	b, err := natstest.Patiently(t.Context(), func() (*sluice.Binding, error) { return e.Queue.Bind(t.Context(), pattern, 16) })
	if err != nil {
		t.Fatal(err)
	}
	p := &sluice.Pipeline{Name: name, Binding: b}
	storePipeline(t, e, name, p)
	t.Cleanup(func() { _ = e.Queue.Unbind(context.Background(), "", b) })
	return p
}

// storePipeline stores a pipeline, or deletes it if p is nil.
func storePipeline(t *testing.T, e *jetstream.Engine, name string, p *sluice.Pipeline) {
	t.Helper()
	_, err := natstest.Patiently(t.Context(), func() (*sluice.Pipeline, error) {
		return e.Pipelines.Change(t.Context(), name, func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error) { return p, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// consume runs a pipeline until the test ends.
func consume(t *testing.T, e *jetstream.Engine, p *sluice.Pipeline, run func(sluice.Delivery) (sluice.Outcome, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { e.Queue.Consume(ctx, p, sluice.Handler{Run: run}) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
}

// replay hands an event to a pipeline once more, and returns the correlation id of that.
func replay(t *testing.T, e *jetstream.Engine, correlationID string, p *sluice.Pipeline) string {
	t.Helper()
	stored, err := e.Journal.Event(t.Context(), correlationID)
	if err != nil {
		t.Fatal(err)
	}
	again, err := stored.Replay(t.Context(), correlationID, p.Name)
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Events.Accept(t.Context(), again, 0)
	if err != nil {
		t.Fatal(err)
	}
	return result.CorrelationID
}

func ok(pipeline, value string) sluice.Outcome {
	return sluice.Outcome{Pipeline: pipeline, Status: sluice.StatusOK, StatusCode: 200, Value: json.RawMessage(value), Attempts: 1, Finished: time.Now().UTC()}
}

func wantKind(t *testing.T, err error, want sluice.Kind) {
	t.Helper()
	if err == nil || sluice.AsError(err).Kind != want {
		t.Fatalf("got error %v, want one of kind %s", err, want)
	}
}

// failsAtFirst returns a pipeline's run that fails on each event, and not on its replay.
func failsAtFirst(p *sluice.Pipeline) func(sluice.Delivery) (sluice.Outcome, error) {
	return func(d sluice.Delivery) (sluice.Outcome, error) {
		o := ok(p.Name, "1")
		if _, isReplay := d.Message["firstId"]; !isReplay {
			o.Status = sluice.StatusError
		}
		return o, nil
	}
}
