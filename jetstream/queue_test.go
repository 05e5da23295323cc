package jetstream

import (
	"bytes"
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

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/natstest"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
	"sluice/problem"
)

// patience bounds every wait of these tests: reaching it is a failure.
const patience = time.Minute

// bind stores a pipeline that listens to a pattern.
func bind(t *testing.T, e *Engine, name, pattern string, concurrency int) *sluice.Pipeline {
	t.Helper()
	b, err := natstest.Patiently(t.Context(), func() (*sluice.Binding, error) { return e.Queue.Bind(t.Context(), pattern, concurrency) })
	if err != nil {
		t.Fatal(err)
	}
	p := &sluice.Pipeline{Name: name, Binding: b}
	storePipeline(t, e, name, p)
	t.Cleanup(func() { _ = e.Queue.Unbind(context.Background(), b) })
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
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { e.Queue.Consume(ctx, p, run) })
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
		check(t, late.Put(t.Context(), e.Sequence, e.TraceID, ok(p.Name, `"untold"`)))
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
		if err := e.outcomes.Put(t.Context(), sequence, d.TraceID, ok(p.Name, `"first"`)); err != nil {
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

func TestAFailureIsADeadLetter(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("letter")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		shown := problem.Of(sluice.Errorf(sluice.Code{Word: "no-good", Kind: sluice.Invalid}, "No good."))
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
			return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 400, Error: shown, Attempts: 3, Finished: time.Now().UTC()}, nil
		})
		result := send(t, e, key, patience)
		if result.Status != sluice.StatusError || result.StatusCode != 500 || result.Error.Code != "pipeline-failed" || result.Value != nil {
			t.Fatalf("the result is %+v", result)
		}
		letters, _, err := e.DeadLetters.Letters(t.Context(), sluice.DeadLetterQuery{Pipeline: p.Name, Limit: 10})
		if err != nil || len(letters) != 1 {
			t.Fatalf("there are %d dead letters (%v)", len(letters), err)
		}
		l := letters[0]
		if l.TraceID != result.TraceID || l.CorrelationID != result.CorrelationID || l.Attempts != 3 || l.Error.Code != "no-good" || l.EventKey != key || !strings.Contains(string(l.Event), key) {
			t.Errorf("the letter is %+v", l)
		}
		if err := e.DeadLetters.Drop(t.Context(), l.Letter); err != nil {
			t.Fatal(err)
		}
		if err := e.DeadLetters.Drop(t.Context(), l.Letter); sluice.AsError(err).Kind != sluice.NotFound {
			t.Errorf("dropped twice: %v", err)
		}
	})
}

// TestALetterFollowsItsOutcome: without an outcome there is no letter, since the
// event is run again; and an outcome without one gets it, once.
func TestALetterFollowsItsOutcome(t *testing.T) {
	t.Parallel()
	failing := func(p *sluice.Pipeline) sluice.Outcome {
		shown := problem.Of(sluice.Errorf(sluice.Code{Word: "no-good", Kind: sluice.Invalid}, "No good."))
		return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 400, Error: shown, Attempts: 1, Finished: time.Now().UTC()}
	}
	letters := func(e *Engine) uint64 {
		info, err := e.DeadLetters.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
	t.Run("no outcome", func(t *testing.T) {
		e := openEngine(t, Options{Dir: t.TempDir()})
		p := bind(t, e, "p", sluice.EventPrefix+"webhook.letter", 16)
		if err := e.host.JS.DeleteStream(t.Context(), queue.OutcomeStream); err != nil {
			t.Fatal(err)
		}
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) { return failing(p), nil })
		send(t, e, "webhook.letter", 0)
		natstest.Eventually(t, "the event is delivered again", func() bool {
			info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			return err == nil && info.CachedInfo().NumRedelivered > 0
		})
		if got := letters(e); got != 0 {
			t.Errorf("there are %d letters of an event without an outcome", got)
		}
	})
	t.Run("no letter", func(t *testing.T) {
		e := openEngine(t, Options{Dir: t.TempDir()})
		p := bind(t, e, "p", sluice.EventPrefix+"webhook.letter", 1)
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			// As if the process had died between the outcome and the letter.
			place, _ := e.Stored.ids.Parse(d.CorrelationID)
			sequence := place.Sequence
			if err := e.outcomes.Put(t.Context(), sequence, d.TraceID, failing(p)); err != nil {
				t.Error(err)
			}
			return sluice.Outcome{}, errors.New("died")
		})
		send(t, e, "webhook.letter", 0)
		natstest.Eventually(t, "the letter is there", func() bool { return letters(e) == 1 })
		natstest.Eventually(t, "the event is done with", func() bool {
			info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			return err == nil && info.CachedInfo().NumAckPending == 0
		})
		if got := letters(e); got != 1 {
			t.Errorf("there are %d letters of one event", got)
		}
	})
}

func TestAnEventForOnePipeline(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	one := bind(t, e, "one", sluice.EventPrefix+"webhook.shared", 16)
	two := bind(t, e, "two", sluice.EventPrefix+"webhook.shared", 16)
	consume(t, e, one, answering(one, `1`))
	consume(t, e, two, answering(two, `2`))
	direct := keyed("webhook.shared")
	direct.To = "two"
	got, err := e.Events.Accept(t.Context(), direct, patience)
	if err != nil || string(got.Value) != `2` {
		t.Errorf("the result is %s (%v)", got.Value, err)
	}
	direct.To = "three"
	if _, err := e.Events.Accept(t.Context(), direct, 0); sluice.AsError(err).Kind != sluice.NotFound {
		t.Errorf("an unknown pipeline: %v", err)
	}
}

func TestResultsOfPipelinesThatAreGone(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.gone", 16)
	result := send(t, e, "webhook.gone", 0)
	poll := func() sluice.Result {
		t.Helper()
		got, err := e.Results.Result(t.Context(), result.CorrelationID, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := poll(); got.Status != sluice.StatusProcessing {
		t.Errorf("before it ran the status is %s", got.Status)
	}
	if err := e.Queue.Unbind(t.Context(), p.Binding); err != nil {
		t.Fatal(err)
	}
	storePipeline(t, e, "p", nil)
	if got := poll(); got.Status != sluice.StatusError || got.Error.Code != "pipeline-gone" {
		t.Errorf("after it was deleted the result is %+v", got)
	}
	bind(t, e, "p", sluice.EventPrefix+"webhook.gone", 16)
	if got := poll(); got.Status != sluice.StatusError {
		t.Errorf("a new one of the same name does not run old events, but the status is %s", got.Status)
	}
}

func TestOutcomesExpire(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), ResultTTL: 300 * time.Millisecond})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.short", 16)
	consume(t, e, p, answering(p, `1`))
	result := send(t, e, "webhook.short", patience)
	natstest.Eventually(t, "the outcome has expired", func() bool {
		_, err := e.Results.Result(t.Context(), result.CorrelationID, 0)
		return err != nil && sluice.AsError(err).Kind == sluice.Gone
	})
}

func TestTrimmingStopsAtTheUnfinished(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), EventMaxAge: time.Millisecond})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.slow", 16)
	for range 10 {
		send(t, e, "webhook.other", 0)
	}
	send(t, e, "webhook.slow", 0)
	for range 10 {
		send(t, e, "webhook.other", 0)
	}
	natstest.Eventually(t, "all but the unfinished and what follows is trimmed", func() bool {
		info, err := e.Stored.stream.Info(t.Context())
		return err == nil && info.State.Msgs == 11
	})
	consume(t, e, p, answering(p, `1`))
	natstest.Eventually(t, "all is trimmed", func() bool {
		info, err := e.Stored.stream.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
}

func TestAFullStoreRefusesOnlyWhatNobodyFinished(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir(), EventMaxBytes: 4 << 20})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.hanging", 16)
	big := func(key string) error {
		ev := keyed(key)
		ev.Payload = json.RawMessage(`"` + strings.Repeat("x", 200<<10) + `"`)
		_, err := e.Events.Accept(t.Context(), ev, 0)
		return err
	}
	first := send(t, e, "webhook.hanging", 0)
	natstest.Eventually(t, "the store is full", func() bool { return e.Stored.space.full.Load() || big("webhook.filler") != nil })
	if err := big("webhook.filler"); err == nil || sluice.AsError(err).Code != "storage-full" {
		t.Errorf("a full store answers %v", err)
	}
	consume(t, e, p, answering(p, `1`))
	natstest.Eventually(t, "there is room again", func() bool { return big("webhook.filler") == nil })
	if got, err := e.Results.Result(t.Context(), first.CorrelationID, patience); err == nil && got.Status != sluice.StatusOK {
		t.Errorf("the event that was waited for has the status %s", got.Status)
	}
}

func TestUnboundConsumersAreDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	if _, err := e.Queue.Bind(t.Context(), "svc.event.a", 16); err != nil { // and no pipeline is stored
		t.Fatal(err)
	}
	bind(t, e, "p", "svc.event.b", 16)
	e.Close()
	e = openEngine(t, Options{Dir: dir})
	info, err := e.Stored.stream.Info(t.Context())
	if err != nil || info.State.Consumers != 1 {
		t.Errorf("there are %d consumers (%v), want 1", info.State.Consumers, err)
	}
}

// TestALostConsumerRunsNothingAnew: after a power cut the engine may have
// forgotten how far a pipeline was.
func TestALostConsumerRunsNothingAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Options{Dir: dir})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.once", 16)
	runs := make(chan string, 100)
	run := func(d sluice.Delivery) (sluice.Outcome, error) {
		runs <- d.TraceID
		return ok(p.Name, `1`), nil
	}
	stop := consume(t, e, p, run)
	for range 10 {
		send(t, e, "webhook.once", patience)
	}
	natstest.Eventually(t, "all events are acknowledged", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumAckPending == 0
	})
	if err := e.lowWater.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 10 { // above the floor
		send(t, e, "webhook.once", patience)
	}
	stop()
	if err := e.Stored.stream.DeleteConsumer(t.Context(), p.Binding.ID); err != nil {
		t.Fatal(err)
	}
	// Below the floor not even the outcomes are needed.
	outcomes, err := e.host.JS.Stream(t.Context(), queue.OutcomeStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := outcomes.Purge(t.Context(), jetstream.WithPurgeSequence(11)); err != nil {
		t.Fatal(err)
	}
	e.Close()
	e = openEngine(t, Options{Dir: dir})
	consume(t, e, p, run)
	last := send(t, e, "webhook.once", patience)
	if last.Status != sluice.StatusOK {
		t.Fatalf("the status is %s", last.Status)
	}
	natstest.Eventually(t, "all events are acknowledged again", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumAckPending == 0 && info.CachedInfo().NumPending == 0
	})
	if len(runs) != 21 {
		t.Errorf("there were %d runs of 21 events", len(runs))
	}
}

// TestLargeEventsRunFewAtATime: as values they take many times their size, so
// slots alone don't bound the memory of a pipeline.
func TestLargeEventsRunFewAtATime(t *testing.T) {
	t.Parallel()
	const events, together = 5, 2
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.large", 16)
	var open, most atomic.Int32
	end := make(chan struct{})
	consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
		now := open.Add(1)
		defer open.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		<-end
		return ok(p.Name, `1`), nil
	})
	var last sluice.Result
	for range events {
		large := keyed("webhook.large")
		large.Payload = slices.Concat([]byte{'"'}, bytes.Repeat([]byte{'x'}, sluice.MaxRunBytes/(together+1)+1<<20), []byte{'"'})
		var err error
		if last, err = e.Events.Accept(t.Context(), large, 0); err != nil {
			t.Fatal(err)
		}
	}
	natstest.Eventually(t, "all events are handed out, and some run", func() bool {
		info, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
		return err == nil && info.CachedInfo().NumAckPending == events && open.Load() == together
	})
	close(end)
	result, err := e.Results.Result(t.Context(), last.CorrelationID, patience)
	if err != nil || result.Status != sluice.StatusOK {
		t.Errorf("the last event comes to %s, %v", result.Status, err)
	}
	if most.Load() != together {
		t.Errorf("%d events were open at the same time, want %d", most.Load(), together)
	}
}

// TestConsumingIsTriedAgain: a consumer that the engine has lost under way is made
// again, and its pipeline goes on.
func TestConsumingIsTriedAgain(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("lost")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		consume(t, e, p, answering(p, `1`))
		send(t, e, key, patience)
		if err := e.Stored.stream.DeleteConsumer(t.Context(), p.Binding.ID); err != nil {
			t.Fatal(err)
		}
		if got := send(t, e, key, patience); got.Status != sluice.StatusOK {
			t.Errorf("the second event comes to %s", got.Status)
		}
	})
}

// TestAConsumerLostUnderWayRunsNothingAnew: what has an outcome is not run again,
// also if the process that ran it goes on.
func TestAConsumerLostUnderWayRunsNothingAnew(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("lost")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		var runs atomic.Int32
		consume(t, e, p, func(sluice.Delivery) (sluice.Outcome, error) {
			runs.Add(1)
			return ok(p.Name, `1`), nil
		})
		const events = 20
		for range events {
			send(t, e, key, patience)
		}
		if err := e.Stored.stream.DeleteConsumer(t.Context(), p.Binding.ID); err != nil {
			t.Fatal(err)
		}
		send(t, e, key, patience)
		natstest.Eventually(t, "all events are done with", func() bool {
			consumer, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			if err != nil {
				return false
			}
			info := consumer.CachedInfo()
			return info.NumAckPending == 0 && info.NumPending == 0 && info.Delivered.Consumer > events
		})
		if got := runs.Load(); got != events+1 {
			t.Errorf("there were %d runs of %d events", got, events+1)
		}
	})
}
