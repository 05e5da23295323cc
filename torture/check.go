package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"sluice"
)

const (
	pollers    = 16
	olderPolls = 1000 // polls for calls that an earlier check has polled for
	maxMisses  = 50   // then the server starts to refuse, and the case is clear
)

// checkOverHTTP looks for what the ledger has as its callers would: calls by
// their correlation ids, webhooks in the list.
func checkOverHTTP(ctx context.Context, url string, l *ledger, random *rand.Rand) error {
	c := newClient(url, pollers)
	defer c.close()
	var found []sluice.Webhook
	if err := c.command(ctx, "webhook.get", map[string]any{}, &found); err != nil {
		return err
	}
	l.hooks.compare(found)
	poll(ctx, c, l, l.sample(random, olderPolls))
	return ctx.Err()
}

// poll asks for the result of each call, and notes those that are missing.
func poll(ctx context.Context, c *client, l *ledger, receipts []receipt) {
	var next, misses atomic.Int64
	var work sync.WaitGroup
	for range pollers {
		work.Go(func() {
			for ctx.Err() == nil && misses.Load() < maxMisses {
				i := int(next.Add(1)) - 1
				if i >= len(receipts) {
					return
				}
				r := receipts[i]
				if trace, err := c.traceOf(ctx, r.correlationID); err != nil || trace != r.traceID {
					misses.Add(1)
					l.miss(r.id)
				}
			}
		})
	}
	work.Wait()
}
