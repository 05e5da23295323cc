package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// patience bounds every wait of these tests: reaching it is a failure.
const patience = 3 * time.Minute

// bind stores a pipeline that listens to a pattern.
func bind(t *testing.T, e *Engine, name, pattern string, concurrency int) *sluice.Pipeline {
	t.Helper()
	b, err := natstest.Patiently(t.Context(), func() (*sluice.Binding, error) { return e.Queue.Bind(t.Context(), pattern, concurrency) })
	if err != nil {
		t.Fatal(err)
	}
	p := &sluice.Pipeline{Name: name, Binding: b}
	storePipeline(t, e, name, p)
	t.Cleanup(func() { _ = e.Queue.Unbind(context.Background(), "", b) })
	return p
}

// storePipeline stores a pipeline, or deletes it if p is nil.
func storePipeline(t *testing.T, e *Engine, name string, p *sluice.Pipeline) {
	t.Helper()
	_, err := natstest.Patiently(t.Context(), func() (*sluice.Pipeline, error) {
		return e.Pipelines.Change(t.Context(), name, func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error) { return p, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// consume runs a pipeline until the test ends or stop is called.
func consume(t *testing.T, e *Engine, p *sluice.Pipeline, run func(sluice.Delivery) (sluice.Outcome, error)) (stop func()) {
	t.Helper()
	return consumeBy(t, e, p, sluice.Handler{Run: run})
}

func consumeBy(t *testing.T, e *Engine, p *sluice.Pipeline, h sluice.Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { e.Queue.Consume(ctx, p, h) })
	stop = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// answering returns a run that answers with a value.
func answering(p *sluice.Pipeline, value string) func(sluice.Delivery) (sluice.Outcome, error) {
	return func(sluice.Delivery) (sluice.Outcome, error) {
		return ok(p.Name, value), nil
	}
}

func ok(pipeline, value string) sluice.Outcome {
	return sluice.Outcome{Pipeline: pipeline, Status: sluice.StatusOK, StatusCode: 200, Value: json.RawMessage(value), Attempts: 1, Finished: time.Now().UTC()}
}

// send accepts an event with a key of its own.
func send(t *testing.T, e *Engine, key string, wait time.Duration) sluice.Result {
	t.Helper()
	result, err := e.Events.Accept(t.Context(), keyed(key), wait)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func keyed(key string) *sluice.Event {
	e := event(sluice.NewTraceID("abcdef", time.Now()))
	e.EventKey = key
	return e
}

func TestACallGetsTheOutcomesOfItsPipelines(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("outcomes")
		suffix := strings.Split(key, ".")[1]
		one := bind(t, e, "one"+suffix, sluice.EventPrefix+key, 16)
		consume(t, e, one, answering(one, `{"a":1}`))
		if got := send(t, e, key, patience); got.Status != sluice.StatusOK || string(got.Value) != `{"a":1}` {
			t.Fatalf("one pipeline gives %s %s", got.Status, got.Value)
		}
		two := bind(t, e, "two"+suffix, sluice.EventPrefix+"webhook."+suffix+".#", 16)
		consume(t, e, two, answering(two, `null`))
		got := send(t, e, key, patience)
		if want := fmt.Sprintf(`{"one%s":{"a":1},"two%s":null}`, suffix, suffix); string(got.Value) != want {
			t.Fatalf("two pipelines give %s, want %s", got.Value, want)
		}
		again, err := e.Results.Result(t.Context(), got.CorrelationID, 0)
		if err != nil || string(again.Value) != string(got.Value) || again.Status != sluice.StatusOK {
			t.Fatalf("the result is %+v (%v)", again, err)
		}
	})
}

func TestAResultIsReadableOnAnyNode(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		if !shared {
			return // there is one node
		}
		here, there := open(), open()
		key := natstest.UniqueKey("nodes")
		p := bind(t, here, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		begin := make(chan struct{})
		consume(t, there, p, func(sluice.Delivery) (sluice.Outcome, error) {
			<-begin
			return ok(p.Name, `"there"`), nil
		})
		result := send(t, here, key, 0)
		if result.Status != sluice.StatusProcessing {
			t.Fatalf("the status is %s before the pipeline ran", result.Status)
		}
		polled := make(chan sluice.Result, 1)
		go func() {
			got, err := here.Results.Result(context.Background(), result.CorrelationID, patience)
			if err != nil {
				t.Error(err)
			}
			polled <- got
		}()
		close(begin)
		if got := <-polled; got.Status != sluice.StatusOK || string(got.Value) != `"there"` {
			t.Errorf("the held poll gives %s %s", got.Status, got.Value)
		}
	})
}

// TestAnOutcomeThatNobodyTellsOfIsFound: a node may be done before it hears that a
// poll is held elsewhere.
func TestAnOutcomeThatNobodyTellsOfIsFound(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		if !shared {
			return // there is one node
		}
		here := open()
		key := natstest.UniqueKey("untold")
		p := bind(t, here, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		result := send(t, here, key, 0)
		asked, err := here.host.Conn.SubscribeSync("svc.await")
		check(t, err)
		polled := make(chan sluice.Result, 1)
		go func() {
			got, _ := here.Results.Result(context.Background(), result.CorrelationID, patience)
			polled <- got
		}()
		for asking := ""; !strings.Contains(asking, result.TraceID); {
			msg, err := asked.NextMsg(patience)
			check(t, err)
			asking = string(msg.Data)
		}
		late := queue.NewOutcomes(here.host, queue.NewHub(), queue.Retention{Age: here.opts.ResultTTL, MaxCount: here.opts.ResultMaxCount, MaxBytes: here.opts.ResultMaxBytes})
		e, err := here.Stored.find(t.Context(), result.CorrelationID)
		check(t, err)
		check(t, late.SetUp(t.Context(), t.Context(), here.Stored.ids))
		_, err = late.Put(t.Context(), e.Sequence, e.TraceID, ok(p.Name, `"untold"`))
		check(t, err)
		if got := <-polled; got.Status != sluice.StatusOK || string(got.Value) != `"untold"` {
			t.Errorf("the held poll gives %s %s", got.Status, got.Value)
		}
	})
}

func TestAnUnfinishedEventIsDeliveredAgain(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("again")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		started, cut := make(chan sluice.Delivery, 10), make(chan struct{})
		stop := consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			started <- d
			<-cut
			return sluice.Outcome{}, errors.New("cut off")
		})
		result := send(t, e, key, 0)
		first := <-started
		close(cut)
		stop()
		e.Close()
		e = open()
		again := make(chan sluice.Delivery, 10)
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			again <- d
			return ok(p.Name, `1`), nil
		})
		second := <-again
		if first.Count != 1 || second.Count < 2 {
			t.Errorf("the deliveries are number %d and %d", first.Count, second.Count)
		}
		if first.CorrelationID != second.CorrelationID || first.CorrelationID != result.CorrelationID {
			t.Errorf("the correlation ids are %s, %s and %s", result.CorrelationID, first.CorrelationID, second.CorrelationID)
		}
		got, err := e.Results.Result(t.Context(), result.CorrelationID, patience)
		if err != nil || got.Status != sluice.StatusOK {
			t.Errorf("the result is %+v (%v)", got, err)
		}
	})
}

// TestAnOutcomeOutlivesTheStateOfItsConsumer: a power cut may lose which events
// were delivered, and how often.
func TestAnOutcomeOutlivesTheStateOfItsConsumer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.done", 1)
	stop := consume(t, e, p, answering(p, `"first"`))
	first := send(t, e, "webhook.done", patience)
	stop()
	e.Close()
	if err := os.Remove(filepath.Join(dir, "jetstream", "$G", "streams", stream.Events, "obs", p.Binding.ID, "o.dat")); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, Options{Dir: dir})
	consume(t, e, p, answering(p, `"second"`))
	if got := send(t, e, "webhook.done", patience); string(got.Value) != `"second"` { // behind the first
		t.Fatalf("the second event comes to %s %s", got.Status, got.Value)
	}
	again, err := e.Results.Result(t.Context(), first.CorrelationID, 0)
	if err != nil || string(again.Value) != `"first"` {
		t.Errorf("the first event comes to %s %s (%v) after the restart", again.Status, again.Value, err)
	}
}

func TestAnEventWithAnOutcomeIsNotRunAgain(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.done", 16)
	runs := make(chan int, 10)
	var failed atomic.Bool
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		runs <- d.Count
		if failed.Swap(true) {
			return ok(p.Name, `1`), nil
		}
		// As if the process had died between the outcome and the
		// acknowledgement.
		place, _ := e.Stored.ids.Parse(d.CorrelationID)
		sequence := place.Sequence
		if _, err := e.Queue.Outcomes.Put(t.Context(), sequence, d.TraceID, ok(p.Name, `"first"`)); err != nil {
			t.Error(err)
		}
		return sluice.Outcome{}, errors.New("died")
	})
	send(t, e, "webhook.done", 0)
	natstest.Eventually(t, "the first event is run", failed.Load) // nobody is told of its outcome
	second := send(t, e, "webhook.done", patience)
	if second.Status != sluice.StatusOK {
		t.Fatalf("the status is %s", second.Status)
	}
	natstest.Eventually(t, "all events are done with", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumAckPending == 0 && info.CachedInfo().NumPending == 0
	})
	if len(runs) != 2 {
		t.Errorf("there were %d runs of two events", len(runs))
	}
}

func TestConcurrencyOneKeepsTheOrder(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("order")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 1)
		var want []string
		for range 50 {
			want = append(want, send(t, e, key, 0).TraceID)
		}
		order := make(chan string, 100)
		failures := 0
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			if failures < 1 {
				failures++
				return sluice.Outcome{}, errors.New("once more")
			}
			order <- d.TraceID
			return ok(p.Name, `1`), nil
		})
		var got []string
		for range want {
			got = append(got, <-order)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the order is %v, want %v", got, want)
		}
	})
}
