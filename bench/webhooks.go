package main

import (
	"context"
	"fmt"
	"time"
)

const (
	fewWebhooks  = 10
	manyWebhooks = 100_000
)

// measureWebhooks compares a server with few webhooks and one with many. Both
// are restarted first, so that neither holds memory from the time when the
// webhooks were created.
func measureWebhooks(ctx context.Context, b *bench) error {
	few, fewTokens, err := b.restartWithWebhooks(ctx, "few", fewWebhooks)
	if err != nil {
		return err
	}
	many, manyTokens, err := b.restartWithWebhooks(ctx, "many", manyWebhooks)
	if err != nil {
		return err
	}
	const settle = 2 * time.Second // a server that has just started still gives memory back
	pause(ctx, settle)
	b.holdMemory("resident memory of a webhook", few, many, true)
	contenders := []*contender{
		{name: "sluice, 10 webhooks"},
		{name: "sluice, 100,000 webhooks, 10 of them called"},
		{name: "sluice, 100,000 webhooks, all called"},
	}
	servers := []*server{few, many, many}
	for i, tokens := range [][]string{fewTokens, manyTokens[:fewWebhooks], manyTokens} {
		// Files of equal length let all loads cost the generator the same.
		all := make([]string, manyWebhooks)
		for j := range all {
			all[j] = tokens[j%len(tokens)]
		}
		if contenders[i].load, err = b.newLoad(servers[i].client, fmt.Sprint("calls-", i), all); err != nil {
			return err
		}
	}
	// The cost of a call is the inverse of the rate.
	if err := b.compare(ctx, contenders,
		ratio{
			"cost of a call with 100,000 webhooks, 10 of them called, to that with 10", contenders[0], contenders[1],
			atMost(1.10, "1.10"),
		},
		ratio{
			"cost of a call with 100,000 webhooks, all called, to that with 10", contenders[0], contenders[2],
			atMost(1.10, "1.10"),
		},
	); err != nil {
		return err
	}
	// Garbage and the events' index have come on top.
	b.holdMemory("resident memory after the load", few, many, false)
	return nil
}

// restartWithWebhooks creates webhooks, restarts the server, and returns the
// webhooks' tokens.
func (b *bench) restartWithWebhooks(ctx context.Context, name string, n int) (*server, []string, error) {
	s, tokens, err := b.startWithWebhooks(ctx, name, n, groupCommit)
	if err != nil {
		return nil, nil, err
	}
	if s, err = b.restart(ctx, s, name); err != nil {
		return nil, nil, err
	}
	progressf("ready %d ms after the start with %s webhooks", s.ready.Milliseconds(), grouped(float64(n)))
	return s, tokens, nil
}

// holdMemory adds the memory of the servers and, if wanted, of each webhook.
func (b *bench) holdMemory(figure string, few, many *server, each bool) {
	base, known := resident(few.process)
	full, alsoKnown := resident(many.process)
	text := fmt.Sprintf("%.0f MB with 10 webhooks, %.0f MB with 100,000", base/1e6, full/1e6)
	switch cost := (full - base) / (manyWebhooks - fewWebhooks); {
	case !known || !alsoKnown:
		b.table.add(figure, "n/a")
	case each:
		b.table.hold(figure, grouped(cost)+" B: "+text, cost, under(1500, "1.5 KB"))
	default:
		b.table.add(figure, text)
	}
}
