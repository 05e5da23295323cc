package jetstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// again is the outcome of a failed attempt that another one follows.
func again(d sluice.Delivery, wait time.Duration) sluice.Outcome {
	return sluice.Outcome{Status: sluice.StatusProcessing, Attempts: d.Attempts + 1, Next: time.Now().Add(wait)}
}

// TestWhatWaitsHoldsNoPlace: events that wait for another attempt take no slot. They count as
// unfinished, and go with their pipeline.
func TestWhatWaitsHoldsNoPlace(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		const failing = 200 // more than are handed out at a time
		e := open()
		key := natstest.UniqueKey("noplace")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			if d.Message["contentType"] == "good" {
				return ok(p.Name, `"good"`), nil
			}
			return again(d, time.Hour), nil
		})
		var results []sluice.Result
		for range failing {
			results = append(results, send(t, e, key, 0))
		}
		good := keyed(key)
		good.ContentType = "good"
		if got, err := e.Events.Accept(t.Context(), good, patience); err != nil || string(got.Value) != `"good"` {
			t.Fatalf("the good one comes to %s %s (%v)", got.Status, got.Value, err)
		}
		natstest.Eventually(t, "the others to wait", func() bool {
			stats, err := e.Stats(t.Context())
			i := slices.IndexFunc(stats.Pipelines, func(s sluice.PipelineStats) bool { return s.Pipeline == p.Name })
			return err == nil && i >= 0 && stats.Pipelines[i].Retrying == failing && stats.Pipelines[i].Waiting == failing && stats.Pipelines[i].Oldest != nil
		})
		for _, result := range results[:3] {
			if got, err := e.Results.Result(t.Context(), result.CorrelationID, 0); err != nil || got.Status != sluice.StatusProcessing {
				t.Errorf("one that waits comes to %s (%v)", got.Status, err)
			}
		}
		calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{EventKey: key, Status: sluice.StatusRetrying, Limit: 1000})
		if err != nil || len(calls) != failing {
			t.Errorf("%d of %d are found to be tried again (%v)", len(calls), failing, err)
		}
		storePipeline(t, e, p.Name, nil)
		if err := e.Queue.Unbind(t.Context(), p.Name, p.Binding); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Results.Result(t.Context(), results[0].CorrelationID, 0); err != nil || got.Error == nil || got.Error.Code != "pipeline-gone" {
			t.Errorf("without its pipeline one comes to %+v (%v)", got, err)
		}
	})
}

// TestAttemptsSurviveARestart: the next process goes on counting, and waits as long as this
// one would have.
func TestAttemptsSurviveARestart(t *testing.T) {
	for name, concurrency := range map[string]int{"without a place": 16, "with its place": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
				e := open()
				key := natstest.UniqueKey("restart")
				p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, concurrency)
				var due time.Time
				failed := make(chan sluice.Delivery, 10)
				stop := consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
					wait := time.Millisecond
					if d.Attempts == 2 {
						wait = 3 * time.Second
					}
					o := again(d, wait)
					due = o.Next
					failed <- d
					return o, nil
				})
				began := time.Now()
				result := send(t, e, key, 0)
				for attempts := range 3 {
					if d := <-failed; d.Attempts != attempts || (attempts > 0) == d.First.IsZero() {
						t.Errorf("attempt %d is told of %d before it, the first at %s", attempts+1, d.Attempts, d.First)
					}
				}
				stop()
				e.Close()
				e = open()
				ended := make(chan sluice.Delivery, 10)
				consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
					ended <- d
					return ok(p.Name, fmt.Sprint(d.Attempts)), nil
				})
				got, err := e.Results.Result(t.Context(), result.CorrelationID, patience)
				if err != nil || string(got.Value) != "3" {
					t.Errorf("it comes to %s %s (%v)", got.Status, got.Value, err)
				}
				d := <-ended
				if time.Now().Before(due) || d.First.Before(began.Add(-time.Millisecond)) || d.First.After(due) || d.Count < 2 || d.TraceID != result.TraceID {
					t.Errorf("the last attempt is %+v, due at %s", d, due)
				}
				natstest.Eventually(t, "nothing to wait any more", func() bool { return !waitsFor(t, e, p.Binding) })
			})
		})
	}
}

// TestOrderIsKeptAcrossRetries: with a concurrency of 1 an event that is tried
// again keeps those behind it waiting.
func TestOrderIsKeptAcrossRetries(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("ordered")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 1)
		var want, got []string
		order := make(chan string, 100)
		for range 4 {
			traceID := send(t, e, key, 0).TraceID
			for attempt := range 3 {
				want = append(want, fmt.Sprint(traceID, " ", attempt))
			}
		}
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			order <- fmt.Sprint(d.TraceID, " ", d.Attempts)
			if d.Attempts < 2 {
				return again(d, 10*time.Millisecond), nil
			}
			return ok(p.Name, `1`), nil
		})
		for range want {
			got = append(got, <-order)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the order is %v, want %v", got, want)
		}
	})
}

// TestNodesShareWhatWaits: each attempt is made by one node alone.
func TestNodesShareWhatWaits(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		const events, attempts = 30, 4
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open(), open())
		}
		key := natstest.UniqueKey("share")
		p := bind(t, nodes[0], strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		var mu sync.Mutex
		runs := make(map[string][]int)
		for _, node := range nodes {
			consume(t, node, p, func(d sluice.Delivery) (sluice.Outcome, error) {
				mu.Lock()
				runs[d.TraceID] = append(runs[d.TraceID], d.Attempts)
				mu.Unlock()
				if d.Attempts < attempts-1 {
					return again(d, 20*time.Millisecond), nil
				}
				return ok(p.Name, `1`), nil
			})
		}
		var results []sluice.Result
		for range events {
			results = append(results, send(t, nodes[0], key, 0))
		}
		for _, result := range results {
			got, err := nodes[len(nodes)-1].Results.Result(t.Context(), result.CorrelationID, patience)
			if err != nil || got.Status != sluice.StatusOK {
				t.Fatalf("an event comes to %s (%v)", got.Status, err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for traceID, made := range runs {
			if !slices.Equal(made, []int{0, 1, 2, 3}) {
				t.Errorf("of %s these attempts were made: %v", traceID, made)
			}
		}
	})
}

// TestRetryReachesEveryNode: whichever node is asked, an event is tried at once that keeps its
// place on one of them.
func TestRetryReachesEveryNode(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open())
		}
		key := natstest.UniqueKey("every")
		p := bind(t, nodes[0], strings.Split(key, ".")[1], sluice.EventPrefix+key, 1)
		consume(t, nodes[0], p, func(d sluice.Delivery) (sluice.Outcome, error) {
			if d.Attempts == 0 {
				return again(d, time.Hour), nil
			}
			return ok(p.Name, `1`), nil
		})
		result := send(t, nodes[0], key, 0)
		asked := nodes[len(nodes)-1]
		natstest.Eventually(t, "an event that waits", func() bool {
			return asked.Queue.Retry(sluice.RetryQuery{Pipeline: p.Name, DryRun: true}) == 1
		})
		if retried := asked.Queue.Retry(sluice.RetryQuery{Pipeline: p.Name}); retried != 1 {
			t.Errorf("%d events are said to be tried, want 1", retried)
		}
		if got, err := asked.Results.Result(t.Context(), result.CorrelationID, patience); err != nil || got.Status != sluice.StatusOK {
			t.Errorf("the event comes to %s (%v)", got.Status, err)
		}
	})
}

// TestRetryDuringAnAttempt: what is to be tried again while it is tried is tried once more at once, on
// whichever node, and by no two at a time.
func TestRetryDuringAnAttempt(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open())
		}
		key := natstest.UniqueKey("during")
		p := bind(t, nodes[0], strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		var running atomic.Int64
		tried, goOn := make(chan int, 9), make(chan struct{})
		run := func(d sluice.Delivery) (sluice.Outcome, error) {
			if running.Add(1) > 1 {
				t.Error("an event is tried twice at a time")
			}
			defer running.Add(-1)
			switch tried <- d.Attempts; d.Attempts {
			case 0:
				return again(d, 10*time.Millisecond), nil
			case 1:
				<-goOn
				return again(d, time.Hour), nil
			}
			return ok(p.Name, `1`), nil
		}
		for _, node := range nodes {
			consume(t, node, p, run)
		}
		result := send(t, nodes[0], key, 0)
		for want := range 2 {
			if got := <-tried; got != want {
				t.Fatalf("attempt %d comes where attempt %d should", got, want)
			}
		}
		for _, node := range nodes {
			natstest.Eventually(t, "the attempt to be known", func() bool {
				return node.Queue.Retry(sluice.RetryQuery{Pipeline: p.Name}) == 1
			})
		}
		close(goOn)
		if got, err := nodes[0].Results.Result(t.Context(), result.CorrelationID, patience); err != nil || got.Status != sluice.StatusOK {
			t.Errorf("the event comes to %s (%v)", got.Status, err)
		}
	})
}

// TestLiveEventsGoBeforeReplays: however many replays wait, a live event is next.
func TestLiveEventsGoBeforeReplays(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		const replays = 100
		e := open()
		key := natstest.UniqueKey("live")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 2)
		begin, order := make(chan struct{}), make(chan string, 2*replays)
		release := sync.OnceFunc(func() { close(begin) })
		defer release() // otherwise a failure would wait for the runs
		run := func(d sluice.Delivery) (sluice.Outcome, error) {
			<-begin
			of, _ := d.Message["replayOf"].(string)
			order <- of
			return ok(p.Name, `1`), nil
		}
		for i := range replays {
			if i == replays/2 { // some are stored before the pipeline begins
				consume(t, e, p, run)
			}
			replayed, err := keyed(key).Replay(t.Context(), "", "")
			check(t, err)
			if _, err := e.Events.Accept(t.Context(), replayed, 0); err != nil {
				t.Fatal(err)
			}
		}
		natstest.Eventually(t, "the replays to give way", func() bool {
			stats, err := e.Stats(t.Context())
			i := slices.IndexFunc(stats.Pipelines, func(s sluice.PipelineStats) bool { return s.Pipeline == p.Name })
			return err == nil && i >= 0 && stats.Pipelines[i].Waiting >= replays-3 && stats.Pipelines[i].Unbegun == nil
		})
		live := send(t, e, key, 0)
		reference, _ := e.Stored.ids.Parse(live.CorrelationID)
		natstest.Eventually(t, "the live event to be handed out", func() bool {
			consumer, err := e.Stored.stream.Consumer(t.Context(), p.Binding.ID)
			return err == nil && consumer.CachedInfo().Delivered.Stream >= reference.Sequence
		})
		release()
		if got, err := e.Results.Result(t.Context(), live.CorrelationID, patience); err != nil || got.Status != sluice.StatusOK {
			t.Fatalf("the live event comes to %s (%v)", got.Status, err)
		}
		before := 0
		for range replays + 1 {
			if <-order == "" {
				break
			}
			before++
		}
		if before > 20 {
			t.Errorf("%d of %d replays went before the live event", before, replays)
		}
	})
}

// TestAnAttemptOfNobody: an event that is given back was not tried.
func TestAnAttemptOfNobody(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.away", 16)
	seen := make(chan int, 10)
	consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
		seen <- d.Attempts
		switch len(seen) {
		case 1:
			return again(d, time.Millisecond), nil
		case 2, 3:
			return sluice.Outcome{}, context.DeadlineExceeded
		}
		return ok(p.Name, `1`), nil
	})
	if got := send(t, e, "webhook.away", patience); got.Status != sluice.StatusOK {
		t.Fatalf("it comes to %s", got.Status)
	}
	for _, want := range []int{0, 1, 1, 1} {
		if got := <-seen; got != want {
			t.Errorf("an attempt is told of %d before it, want %d", got, want)
		}
	}
}

// TestWhatWaitedFollowsItsTarget: when the target takes an event again, those that wait
// for it follow in the order they came; those that wait for another reason, or were told
// to stay, don't.
func TestWhatWaitedFollowsItsTarget(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		const waiting = 150 // more than follow at once
		e := open()
		key := natstest.UniqueKey("follow")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 2) // one slot for what waited
		var back atomic.Bool
		var mu sync.Mutex
		var followed []time.Time
		consume(t, e, p, func(d sluice.Delivery) (sluice.Outcome, error) {
			if back.Load() {
				if d.Attempts > 0 {
					mu.Lock()
					defer mu.Unlock()
					at, _ := sluice.TraceTime(d.TraceID)
					followed = append(followed, at)
				}
				o := ok(p.Name, "1")
				o.Reached = []sluice.Target{1}
				return o, nil
			}
			o := again(d, time.Hour)
			if d.Message["contentType"] != "stays" {
				o.Target = 1
			}
			return o, nil
		})
		for i := range waiting {
			event := keyed(key)
			event.TraceID = sluice.NewTraceID("follow", time.Now().Add(time.Duration(i)*time.Millisecond))
			if i%10 == 0 {
				event.ContentType = "stays"
			}
			if _, err := acceptPatiently(t.Context(), e, event); err != nil {
				t.Fatal(err)
			}
		}
		retrying := func() int { return e.Queue.Retry(sluice.RetryQuery{Pipeline: p.Name, DryRun: true}) }
		natstest.Eventually(t, "all to wait", func() bool { return retrying() == waiting })
		back.Store(true)
		send(t, e, key, 0)
		natstest.Eventually(t, "those that follow", func() bool { return retrying() == waiting/10 })
		natstest.Eventually(t, "their runs", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(followed) == waiting-waiting/10
		})
		inOrder := slices.SortedFunc(slices.Values(followed), time.Time.Compare)
		for i, at := range followed { // those that are due at a time may overtake each other
			if came := slices.Index(inOrder, at); came > i+p.Binding.Deliveries() {
				t.Errorf("the event that came as number %d follows as number %d", came, i)
			}
		}
	})
}
