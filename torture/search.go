package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"sluice"
)

const (
	pageOfCalls = 1000 // calls that one search gives
	singles     = 50   // calls that are also searched for one by one
)

// searchCalls searches every acknowledged call as an operator would: among all
// calls of its webhook, and for some also by the whole trace id. It notes those
// that are not found.
func searchCalls(ctx context.Context, c *client, l *ledger, random *rand.Rand) error {
	found := make(map[string]sluice.Call)
	for _, h := range l.targets {
		if err := c.search(ctx, sluice.Last6(h.uuid), found); err != nil {
			return err
		}
	}
	for n, i := range random.Perm(len(l.receipts)) {
		if n == singles {
			break
		}
		traceID := l.receipts[i].traceID
		delete(found, traceID)
		if err := c.search(ctx, traceID, found); err != nil {
			return err
		}
	}
	l.compareTraces(found)
	return nil
}

// search adds what a search for a trace id finds, or for its part that stands
// for the webhook.
func (c *client) search(ctx context.Context, traceID string, found map[string]sluice.Call) error {
	var page struct {
		Items []sluice.Call `json:"items"`
		Next  string        `json:"next"`
	}
	for params := map[string]any{"traceId": traceID, "limit": pageOfCalls}; ; params["after"] = page.Next {
		page.Items, page.Next = nil, ""
		if err := c.command(ctx, "trace.get", params, &page); err != nil {
			return err
		}
		for i := range page.Items {
			found[page.Items[i].TraceID] = page.Items[i]
		}
		if page.Next == "" {
			return nil
		}
	}
}

// compareTraces notes which acknowledged calls are not among those found, or
// stand there for another call.
func (l *ledger) compareTraces(found map[string]sluice.Call) {
	for _, r := range l.receipts {
		call, there := found[r.traceID]
		if there && call.CorrelationID == r.correlationID && call.EventKey == l.targets[r.kind].key {
			continue
		}
		l.lostTraces[r.id] = true
		if len(l.lostTraces) <= shownMisses {
			fmt.Fprintf(os.Stderr, "the call %s with the id %s: a search finds %+v\n", r.traceID, r.correlationID, call)
		}
	}
}
