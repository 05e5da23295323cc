package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"

	"sluice"
)

const (
	pollers    = 16
	olderPolls = 1000 // polls for calls that an earlier check has polled for
	maxMisses  = 50   // then the server starts to refuse, and the case is clear

	shownMisses = 5 // results that are reported one by one
)

// checkOverHTTP looks for what the ledger has as its callers and operators would:
// calls and their results by their correlation ids, calls by their trace ids,
// webhooks in the list.
func checkOverHTTP(ctx context.Context, url string, l *ledger, random *rand.Rand) error {
	c := newClient(url, pollers)
	defer c.close()
	var found []sluice.Webhook
	if err := c.command(ctx, "webhook.get", map[string]any{}, &found); err != nil {
		return err
	}
	l.hooks.compare(found)
	poll(ctx, c, l, l.sample(random, olderPolls))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return searchCalls(ctx, c, l, random)
}

// poll asks for the result of each call, and notes those that are missing.
func poll(ctx context.Context, c *client, l *ledger, receipts []*receipt) {
	var next, misses atomic.Int64
	var work sync.WaitGroup
	for range pollers {
		work.Go(func() {
			for ctx.Err() == nil && misses.Load() < maxMisses {
				i := int(next.Add(1)) - 1
				if i >= len(receipts) {
					return
				}
				if !c.finds(ctx, l, receipts[i]) {
					misses.Add(1)
				}
			}
		})
	}
	work.Wait()
}

// finds reports whether the result of a call is what it has to be: ready,
// right, and the same as it was when it was read before. There was a run for
// it.
func (c *client) finds(ctx context.Context, l *ledger, r *receipt) bool {
	k := kinds[r.kind]
	result, err := c.result(ctx, r.correlationID)
	found := digestOf(result)
	switch {
	case err == nil && k.fits(r.id, result) && (r.result == digest{} || r.result == found) &&
		(!k.counts || l.counter.of(r.correlationID) > 0):
		r.result = found
		return true
	case k.name == "":
		l.loseCall(r.id)
	default:
		if l.loseResult(r.id) <= shownMisses && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr,
				"the result of a call that pipeline %s listens to: found %s, %v; read before: %v; runs: %d\n",
				k.name, result.AppendJSON(nil), err, r.result != digest{}, l.counter.of(r.correlationID))
		}
	}
	return ctx.Err() != nil // otherwise it is not a miss, but an end
}
