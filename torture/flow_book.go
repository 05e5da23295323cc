package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"sluice"
)

// A flowFault is what may go wrong with a flow.
type flowFault int

const (
	outOfOrder flowFault = iota // an event was done before one of its key that came before it
	doneTwice                   // a step that is done once was done again by another attempt
	takenTwice                  // work was taken while another worker had it, or had done it
	lost                        // what was acknowledged never came to its end
)

const (
	flowWithin   = time.Minute // something must be done in each while after the load
	flowExamples = 3           // faults of a kind that are told one by one
)

// A flowBook is what callers, workers and the target of a flow have seen, out of reach of what
// happens to the server.
type flowBook struct {
	honest bool // not the negative control
	target *httptest.Server

	mu       sync.Mutex
	sent     [flowKeys]int        // the last number of each key that was acknowledged
	reached  [flowKeys]int        // the last that was done
	answered map[string]bool      // work whose answer came to the pipeline
	leased   map[string]time.Time // until when the taker of work may count on it at least
	done     map[string]bool      // work whose answer was acknowledged
	faults   [lost + 1]int
	examples []string
}

func newFlowBook(honest bool) *flowBook {
	b := &flowBook{
		honest: honest, answered: make(map[string]bool), leased: make(map[string]time.Time), done: make(map[string]bool),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/ordered", b.ordered)
	mux.HandleFunc("/effect", b.effect)
	mux.HandleFunc("/answered", b.answer)
	b.target = httptest.NewServer(mux)
	return b
}

// setUp stores the webhook and the pipelines of a flow.
func (b *flowBook) setUp(ctx context.Context, url string) (token string, err error) {
	c := newClient(url, 1)
	defer c.close()
	var hook sluice.Webhook
	if err := c.command(ctx, "webhook.put", map[string]any{
		"eventKey": "webhook.flow", "dedupe": "query:id",
	}, &hook); err != nil {
		return "", err
	}
	order, once := "order: '#{body.query.key[0]}'\n", ", once: true"
	if !b.honest {
		order, once = "", ""
	}
	const head = "retry: {times: 20, backoff: 100ms}\nconcurrency: 32\npipeline:\n" +
		"- event.listen: {eventKey: webhook.flow}\n- iam.run.as: {username: admin}\n"
	for name, source := range map[string]string{
		"ordered": order + head + fmt.Sprintf("- http.request: {url: %q}\n",
			b.target.URL+"/ordered?key=#{body.query.key[0]}&n=#{body.query.n[0]}") +
			"- fail: {message: not yet, statusCode: 503, if: '#{body.statusCode != 200}'}\n",
		"worked": head + fmt.Sprintf("- http.request: {url: %q, output: vars.effect%s}\n",
			b.target.URL+"/effect?id=#{body.query.id[0]}&attempt=#{request.attempt}", once) +
			"- fail: {message: not yet, statusCode: 503, if: '#{request.attempt < 2}'}\n" +
			"- work: {queue: flow, within: 1h, input: '#{body.query.id[0]}'}\n" +
			fmt.Sprintf("- http.request: {url: %q}\n", b.target.URL+"/answered?id=#{body}"),
	} {
		if err := c.store(ctx, name, source); err != nil {
			return "", err
		}
	}
	return hook.UUID, nil
}

// faultf notes what went wrong. The caller holds the lock.
func (b *flowBook) faultf(of flowFault, format string, args ...any) {
	if b.faults[of]++; b.faults[of] <= flowExamples {
		b.examples = append(b.examples, fmt.Sprintf(format, args...))
	}
}

// ordered is the target of events in order. Some attempts fail, so that others could overtake.
func (b *flowBook) ordered(w http.ResponseWriter, r *http.Request) {
	var key, n int
	_, err := fmt.Sscan(r.FormValue("key")+" "+r.FormValue("n"), &key, &n)
	if err != nil || rand.IntN(5) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	time.Sleep(rand.N(5 * time.Millisecond))
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.reached[key]; n != last && n != last+1 {
		b.faultf(outOfOrder, "key %d: event %d behind %d", key, n, last)
	}
	b.reached[key] = max(n, b.reached[key])
}

// effect is the target of the step that is done once. Its output was stored before the first attempt went
// on to fail, so no other attempt does it again. Within an attempt it may be done again if its node dies, or
// the engine believes so.
func (b *flowBook) effect(_ http.ResponseWriter, r *http.Request) {
	if attempt := r.FormValue("attempt"); attempt != "1" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.faultf(doneTwice, "attempt %s has done the step of %s again", attempt, r.FormValue("id"))
	}
}

func (b *flowBook) answer(_ http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered[r.FormValue("id")] = true
}

// took notes that a worker has work until then, at least. It is noted at once, however long other work takes.
func (b *flowBook) took(id string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.honest && time.Now().After(until): // this worker heard of it too late
		return
	case b.done[id]:
		b.faultf(takenTwice, "%s was taken when it was done", id)
	case time.Now().Before(b.leased[id]):
		b.faultf(takenTwice, "%s was taken %v before its lease is over", id, time.Until(b.leased[id]))
	}
	b.leased[id] = until
}

// leave notes that a worker counts on some work no more. It may have been done.
func (b *flowBook) leave(id string, done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.leased, id)
	b.done[id] = b.done[id] || done
}

func (b *flowBook) count() (events int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.sent {
		events += n
	}
	return events
}

// missing returns the ids of what is not done yet.
func (b *flowBook) missing() (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, last := range b.sent {
		if b.reached[key] < last {
			ids = append(ids, flowID(key, b.reached[key]+1)+" in order")
		}
		for n := 1; n <= last; n++ {
			if !b.answered[flowID(key, n)] {
				ids = append(ids, flowID(key, n)+" with its work")
			}
		}
	}
	return ids
}

// awaitAll waits until all is done, as long as there is progress, and notes what is not.
func (b *flowBook) awaitAll(ctx context.Context) {
	ids := b.missing()
	for least, at := len(ids), time.Now(); len(ids) > 0 && time.Since(at) < flowWithin && ctx.Err() == nil; {
		if ids = b.missing(); len(ids) < least {
			least, at = len(ids), time.Now()
		}
		sleep(ctx, pause)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		b.faultf(lost, "event %s never came to its end", id)
	}
}

func flowID(key, n int) string { return fmt.Sprintf("%d-%d", key, n) }
