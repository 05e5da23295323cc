package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"sluice"
)

const (
	flowKeys    = 100
	flowWorkers = 8
	flowLease   = 3 * time.Second
	flowPause   = 300 * time.Millisecond // between the calls of a key
)

// call calls for the events of a key, one after the other. One that is not acknowledged is sent
// again, also when the calls end: whether it is there is not known.
func (b *flowBook) call(calling, ctx context.Context, t flowTrial, key int, token string) {
	for n := 1; calling.Err() == nil; n++ {
		for ctx.Err() == nil && !flowCall(ctx, t.world, key, n, token) {
			sleep(ctx, pause)
		}
		b.mu.Lock()
		b.sent[key] = n
		b.mu.Unlock()
		sleep(calling, rand.N(2*cmp.Or(t.pause, flowPause)))
	}
}

func flowCall(ctx context.Context, world flowWorld, key, n int, token string) (acked bool) {
	urls := world.urls()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf(
		"%s/api/v3/command/webhook.receive?id=%s&key=%d&n=%d", urls[rand.IntN(len(urls))], flowID(key, n), key, n), nil)
	if err != nil {
		return false
	}
	r.Header.Set("Token", token)
	answer, err := patient.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// work takes work and does it. Some of it is abandoned, given back, or kept for longer.
func (b *flowBook) work(ctx context.Context, world flowWorld) {
	lease := flowLease
	if !b.honest {
		lease = time.Second
	}
	for ctx.Err() == nil {
		urls := world.urls()
		c := newClient(urls[rand.IntN(len(urls))], 1)
		began := time.Now()
		var taken struct{ Items []sluice.WorkItem }
		err := c.command(ctx, "work.take", map[string]any{
			"queue": "flow", "limit": 5, "lease": lease.String(), "wait": "1s",
		}, &taken)
		if err != nil {
			sleep(ctx, pause)
		}
		ids := make([]string, len(taken.Items))
		for i, item := range taken.Items {
			_ = json.Unmarshal(item.Input, &ids[i])
			b.took(ids[i], began.Add(flowLease))
		}
		for i, item := range taken.Items {
			b.finish(ctx, c, item.Lease, ids[i])
		}
		c.close()
	}
}

// finish does one of several things with work that was taken.
func (b *flowBook) finish(ctx context.Context, c *client, lease, id string) {
	var none any
	switch choice := rand.IntN(20); {
	case choice < 4: // abandoned
	case choice < 6:
		b.leave(id, false)
		_ = c.command(ctx, "work.fail", map[string]any{
			"lease": lease, "message": "later", "statusCode": 503, "retryAfter": "100ms",
		}, &none)
	default:
		if choice < 8 {
			_ = c.command(ctx, "work.extend", map[string]any{"lease": lease, "for": "5s"}, &none) // it lasts in any case
		}
		for range 3 { // the same lease has the same answer
			if c.command(ctx, "work.done", map[string]any{"lease": lease, "value": id}, &none) == nil {
				b.leave(id, true)
				return
			}
		}
	}
}
