package jetstream

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// byContentType orders events by their content type; one without has no order.
func byContentType(d sluice.Delivery) sluice.Place {
	text, _ := d.Message["contentType"].(string)
	if text == "" {
		return sluice.Place{}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return sluice.Place{Order: h.Sum64()}
}

// TestOrderByAValue: events with the same value run one at a time, in the order they came, also
// through retries, on several nodes, and across a restart. One that waits holds up its own
// value only.
func TestOrderByAValue(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		const values, each = 8, 6
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open())
		}
		key := natstest.UniqueKey("order")
		p := bind(t, nodes[0], strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		var mu sync.Mutex
		running, done := map[string]bool{}, map[string][]string{}
		var back atomic.Bool
		run := func(d sluice.Delivery) (o sluice.Outcome, err error) {
			of, _ := d.Message["contentType"].(string)
			mu.Lock()
			if running[of] && of != "" {
				t.Errorf("two events of %s run at the same time", of)
			}
			running[of] = true
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			defer mu.Unlock()
			running[of] = false
			switch {
			case of == "stuck" && !back.Load():
				return again(d, time.Hour), nil
			case d.Attempts < 1 && of != "":
				return again(d, 5*time.Millisecond), nil
			}
			done[of] = append(done[of], d.TraceID)
			return ok(p.Name, "1"), nil
		}
		var stops []func()
		serve := func() {
			for _, node := range nodes {
				stops = append(stops, consumeBy(t, node, p, sluice.Handler{Run: run, Place: byContentType}))
			}
		}
		serve()
		want := map[string][]string{}
		sendAll := func() {
			for range each {
				for i := range values + 2 {
					event := keyed(key)
					event.ContentType = fmt.Sprint("v", i)
					switch i {
					case values:
						event.ContentType = "stuck"
					case values + 1:
						event.ContentType = ""
					}
					got, err := acceptPatiently(t.Context(), nodes[0], event)
					check(t, err)
					want[event.ContentType] = append(want[event.ContentType], got.TraceID)
				}
			}
		}
		reached := func(values map[string][]string) bool {
			mu.Lock()
			defer mu.Unlock()
			for of, ids := range values {
				if of != "stuck" && len(done[of]) != len(ids) {
					return false
				}
			}
			return true
		}
		sendAll()
		natstest.Eventually(t, "all but what is stuck", func() bool { return reached(want) })
		sendAll()
		for _, stop := range stops {
			stop()
		}
		for i, node := range nodes {
			node.Close()
			nodes[i] = open()
		}
		serve()
		natstest.Eventually(t, "the rest", func() bool { return reached(want) })
		if len(done["stuck"]) > 0 {
			t.Error("an event overtakes one that waits")
		}
		back.Store(true)
		natstest.Eventually(t, "one that waits", func() bool { return nodes[0].Queue.Retry(sluice.RetryQuery{Pipeline: p.Name}) > 0 })
		natstest.Eventually(t, "those behind it", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(done["stuck"]) == len(want["stuck"])
		})
		for of, ids := range want {
			if of != "" && !slices.Equal(done[of], ids) {
				t.Errorf("of %s the order is %v, want %v", of, done[of], ids)
			}
		}
		natstest.Eventually(t, "nothing to wait any more", func() bool { return !waitsFor(t, nodes[0], p.Binding) })
	})
}

// TestADeadLetterLetsTheNextGo: an event that is given up is done.
func TestADeadLetterLetsTheNextGo(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{Dir: t.TempDir()})
	p := bind(t, e, "p", sluice.EventPrefix+"webhook.letter", 16)
	var runs atomic.Int64
	consumeBy(t, e, p, sluice.Handler{Place: byContentType, Run: func(d sluice.Delivery) (sluice.Outcome, error) {
		if runs.Add(1) == 1 {
			return sluice.Outcome{Pipeline: p.Name, Status: sluice.StatusError, StatusCode: 500, Error: &sluice.Problem{Code: "failed"}, Attempts: 1}, nil
		}
		return ok(p.Name, "1"), nil
	}})
	for _, want := range []sluice.Status{sluice.StatusError, sluice.StatusOK} {
		event := keyed("webhook.letter")
		event.ContentType = "one"
		if got, err := e.Events.Accept(t.Context(), event, patience); err != nil || got.Status != want {
			t.Errorf("it comes to %s (%v), want %s", got.Status, err, want)
		}
	}
}

// TestWhatIsSentForLaterHoldsUpNobody: an event that was sent for a later time comes then, behind those
// that have come meanwhile, and runs no earlier. Two of one value never run at the same time.
func TestWhatIsSentForLaterHoldsUpNobody(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, _ bool) {
		e := open()
		key := natstest.UniqueKey("later")
		p := bind(t, e, strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		var mu sync.Mutex
		var ran []string
		running, due := false, time.Now().Add(2*time.Second)
		var isOver atomic.Bool
		consumeBy(t, e, p, sluice.Handler{Place: byContentType, Run: func(d sluice.Delivery) (sluice.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			if _, later := d.Message["due"]; later && time.Now().Before(due) {
				t.Error("an event runs before its time")
			}
			if running && !isOver.Load() && len(ran) > 0 && ran[0] != d.TraceID {
				t.Error("an event runs while another one of its value is to be tried again")
			}
			if len(ran) == 0 || ran[len(ran)-1] != d.TraceID {
				ran = append(ran, d.TraceID)
			}
			if running = d.TraceID == ran[0] && !isOver.Load(); running { // until the one for later is due
				return again(d, 10*time.Millisecond), nil
			}
			return ok(p.Name, "1"), nil
		}})
		var want []string
		for i := range 3 {
			event := keyed(key)
			if event.ContentType = "one"; i == 0 {
				event.Due = due.UTC()
			}
			got, err := acceptPatiently(t.Context(), e, event)
			check(t, err)
			want = append(want, got.TraceID)
		}
		want = append(want[1:], want[0])
		_, err := acceptPatiently(t.Context(), e, keyed(natstest.UniqueKey("other"))) // behind all of them
		check(t, err)
		natstest.Eventually(t, "the one for later to be due", func() bool { return time.Now().After(due.Add(time.Second)) })
		isOver.Store(true)
		natstest.Eventually(t, "all to have run", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(ran) == len(want)
		})
		if !slices.Equal(ran, want) {
			t.Errorf("they run in the order %v, want %v", ran, want)
		}
		natstest.Eventually(t, "nothing to wait any more", func() bool { return !waitsFor(t, e, p.Binding) })
	})
}

// TestTheLastOfAGroupRuns: in place of the others, which are done before it; across a restart,
// with nodes that all know of them.
func TestTheLastOfAGroupRuns(t *testing.T) {
	onEverySetup(t, func(t *testing.T, open func() *Engine, shared bool) {
		nodes := []*Engine{open()}
		if shared {
			nodes = append(nodes, open())
		}
		key := natstest.UniqueKey("group")
		p := bind(t, nodes[0], strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
		var mu sync.Mutex
		var ran []string
		superseded := map[string]string{}
		handler := sluice.Handler{
			Place: func(d sluice.Delivery) sluice.Place {
				return sluice.Place{Group: byContentType(d).Order, Wait: 10 * time.Second, AtMost: time.Hour}
			},
			Run: func(d sluice.Delivery) (sluice.Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, d.TraceID)
				return ok(p.Name, `"ran"`), nil
			},
			Supersede: func(d sluice.Delivery, by string) sluice.Outcome {
				mu.Lock()
				defer mu.Unlock()
				superseded[d.TraceID] = by
				return ok(p.Name, "null")
			},
		}
		var stops []func()
		for _, node := range nodes {
			stops = append(stops, consumeBy(t, node, p, handler))
		}
		var results []sluice.Result
		for range 4 {
			event := keyed(key)
			event.ContentType = "one"
			got, err := acceptPatiently(t.Context(), nodes[0], event)
			check(t, err)
			results = append(results, got)
		}
		natstest.Eventually(t, "all to wait", func() bool {
			known, err := nodes[0].Queue.Backlogs(t.Context())
			i := slices.IndexFunc(known, func(s sluice.PipelineStats) bool { return s.Pipeline == p.Name })
			return err == nil && i >= 0 && known[i].Waiting == 4 && nodes[0].Queue.Waiting.Waits(last(t, nodes[0], results))
		})
		for i, node := range nodes {
			stops[i]()
			node.Close()
			nodes[i] = open()
			consumeBy(t, nodes[i], p, handler)
		}
		newest := results[len(results)-1]
		for _, result := range results {
			want := "null"
			if result.TraceID == newest.TraceID {
				want = `"ran"`
			}
			got, err := nodes[0].Results.Result(t.Context(), result.CorrelationID, patience)
			if err != nil || string(got.Value) != want {
				t.Errorf("an event comes to %s %s (%v), want %s", got.Status, got.Value, err, want)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(ran) != 1 || ran[0] != newest.TraceID || len(superseded) != 3 {
			t.Errorf("%v ran, and %v did not", ran, superseded)
		}
		for _, by := range superseded {
			if by != newest.TraceID {
				t.Errorf("one is said to be superseded by %s", by)
			}
		}
		natstest.Eventually(t, "nothing to wait any more", func() bool { return !waitsFor(t, nodes[0], p.Binding) })
	})
}

// last returns the sequence of the event with the last of some results.
func last(t *testing.T, e *Engine, results []sluice.Result) uint64 {
	t.Helper()
	reference, _ := e.Stored.ids.Parse(results[len(results)-1].CorrelationID)
	return reference.Sequence
}
