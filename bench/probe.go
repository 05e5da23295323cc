package main

import (
	"context"
	"fmt"
	"net/url"
	"time"
)

// latencies are those of calls that others make during a flood, in
// milliseconds.
type latencies struct{ remembered, webhook []float64 }

// probe calls a command with a remembered password and a webhook in turn, until
// done. A call that isn't answered with 200 fails it.
func (a *admin) probe(ctx context.Context, token string, done <-chan time.Time) (latencies, error) {
	const between = 10 * time.Millisecond
	var all latencies
	for {
		began := time.Now()
		if err := a.call(ctx, "webhook.get", url.Values{"uuid": {token}}, nil); err != nil {
			return all, err
		}
		middle := time.Now()
		if err := a.call(ctx, "webhook.receive?token="+token, nil, nil); err != nil {
			return all, err
		}
		all.remembered = append(all.remembered, middle.Sub(began).Seconds()*1e3)
		all.webhook = append(all.webhook, time.Since(middle).Seconds()*1e3)
		select {
		case <-done:
			return all, nil
		case <-time.After(between):
		}
	}
}

// String gives the medians.
func (l latencies) String() string {
	return fmt.Sprintf("webhook p50 %.1f ms, webhook.get with remembered Basic p50 %.1f ms, %d of each, all answered",
		median(l.webhook), median(l.remembered), len(l.webhook))
}
