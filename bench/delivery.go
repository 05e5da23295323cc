package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"sluice"
)

// measureDelivery measures how fast a pipeline works off a backlog: with events
// that fail and are tried again, and where each run calls another service.
func measureDelivery(ctx context.Context, b *bench) error {
	p, err := b.startPipelines(ctx, "delivery", 0)
	if err != nil {
		return err
	}
	token, err := p.createWebhook(ctx, backlogKey)
	if err != nil {
		return err
	}
	target := newTarget()
	defer target.Close()
	steady, failing, forward := &contender{name: "runs of a backlog"}, &contender{name: "runs of a backlog, 1 % of " +
		"which fail and are retried"}, &contender{name: "runs of http.forward to a local target"}
	ordered := &contender{name: "runs of a backlog in order by 1,000 values"}
	for round := range min(backlogRounds, b.rounds) {
		for _, c := range []struct {
			*contender
			source string
		}{
			{steady, threeSteps(backlogKey)}, {failing, unsteady(backlogKey)},
			{ordered, "order: '#{body.query.n[0] == \"last\" ? null : int(body.query.n[0]) % 1000}'\n" + threeSteps(backlogKey)},
			{forward, forwarding(backlogKey, target.URL)},
		} {
			took, err := p.drain(ctx, token, backlogKey, c.source)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			o := measurement{Requests: backlogEvents, Seconds: took.Seconds()}
			c.rounds = append(c.rounds, o)
			progressf("round %d: %s runs/s, %s", round+1, grouped(o.rate()), c.name)
		}
	}
	// The first runs of each round were at the gate.
	if want := int64(len(forward.rounds)) * (backlogEvents - sluice.DefaultConcurrency); target.calls.Load() < want {
		return fmt.Errorf("the target was called %d times, want %d", target.calls.Load(), want)
	}
	for _, c := range []*contender{steady, failing, ordered} {
		b.table.add(c.name, grouped(c.median(measurement.rate))+" runs/s")
	}
	rate := forward.median(measurement.rate)
	b.table.hold(forward.name, grouped(rate)+" runs/s", rate, atLeast(5000, "5,000 runs/s"))
	b.holdRatio(ratio{"runs of a backlog: with 1 % that fail to without", failing, steady, atLeast(0.80, "0.80")})
	b.holdRatio(ratio{"runs of a backlog: in order by 1,000 values to without", ordered, steady, atLeast(0.70, "0.70")})
	return nil
}

// unsteady returns the pipeline of three steps, whose first attempt fails for
// every hundredth event.
func unsteady(eventKey string) string {
	return fmt.Sprintf(`retry: {times: 3, backoff: 100ms}
pipeline:
  - event.listen: {eventKey: %s}
  - fail: {message: Not yet., statusCode: 503, if: '#{request.attempt == 1 && (body.query.n[0] endsWith "00" || body.query.n[0] == "0")}'}
  - convert.fromBase64: {input: "#{body.payload.origin}"}
  - set: {value: {length: "#{len(body)}"}}
`, eventKey)
}

// forwarding returns a pipeline that passes calls on.
func forwarding(eventKey, target string) string {
	return fmt.Sprintf(`pipeline:
  - event.listen: {eventKey: %s}
  - iam.run.as: {username: admin}
  - http.forward: {url: %q}
  - set: {value: {length: %d}}
`, eventKey, target, bodySize)
}

// A target takes the calls that are passed on.
type target struct {
	*httptest.Server

	calls atomic.Int64
}

func newTarget() *target {
	t := new(target)
	t.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		t.calls.Add(1)
	}))
	return t
}
