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
	few, fewTokens, err := b.startWithWebhooks(ctx, "few", fewWebhooks)
	if err != nil {
		return err
	}
	many, manyTokens, err := b.startWithWebhooks(ctx, "many", manyWebhooks)
	if err != nil {
		return err
	}
	const settle = 2 * time.Second // a server that has just started still gives memory back
	pause(ctx, settle)
	b.compareMemory(few, many)
	if err := b.compareCost(ctx, few, many, fewTokens, manyTokens); err != nil {
		return err
	}
	b.showMemory(few, many)
	return nil
}

// startWithWebhooks creates webhooks, restarts the server, and gives the
// webhooks' tokens.
func (b *bench) startWithWebhooks(ctx context.Context, name string, n int) (*server, []string, error) {
	s, err := b.startSluice(ctx, name, groupCommit)
	if err != nil {
		return nil, nil, err
	}
	tokens, err := createWebhooks(ctx, s, n)
	if err != nil {
		return nil, nil, err
	}
	if err := s.stop(); err != nil {
		return nil, nil, err
	}
	if s, err = b.startSluice(ctx, name, groupCommit); err != nil {
		return nil, nil, err
	}
	progressf("ready %d ms after the start with %s webhooks", s.ready.Milliseconds(), grouped(float64(n)))
	return s, tokens, nil
}

// compareCost adds what a call costs: with few webhooks, with many of which few
// are called, and with calls spread over many.
func (b *bench) compareCost(ctx context.Context, few, many *server, fewTokens, manyTokens []string) error {
	contenders := []*contender{
		{name: "10 webhooks"},
		{name: "100,000 webhooks, 10 of them called"},
		{name: "100,000 webhooks, all called"},
	}
	servers := []*server{few, many, many}
	for i, tokens := range [][]string{fewTokens, manyTokens[:fewWebhooks], manyTokens} {
		// Files of equal length let all loads cost the generator the same.
		file, err := b.tokenFile(fmt.Sprint("calls-", i), repeat(tokens, manyWebhooks))
		if err != nil {
			return err
		}
		contenders[i].load = load{address: servers[i].address, tokens: file, connections: 64, size: bodySize}
	}
	if err := b.race(ctx, contenders...); err != nil {
		return err
	}
	for _, c := range contenders {
		b.table.add("sluice, "+c.name, c.String())
	}
	for _, c := range contenders[1:] {
		middle, least, most := ratios(contenders[0], c)
		b.table.hold("cost of a call with "+c.name+", to that with 10", span(middle, least, most), "at most 1.10", middle <= 1.10)
	}
	return nil
}

// repeat gives n items, the given ones over and over.
func repeat(items []string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = items[i%len(items)]
	}
	return all
}

// compareMemory adds what a webhook costs in memory.
func (b *bench) compareMemory(few, many *server) {
	const figure = "resident memory of a webhook"
	base, known := resident(few.process)
	full, alsoKnown := resident(many.process)
	if !known || !alsoKnown {
		b.table.add(figure, "n/a")
		return
	}
	each := (full - base) / (manyWebhooks - fewWebhooks)
	b.table.hold(figure, grouped(each)+" B: "+megabytes(base, full), "under 1.5 KB", each < 1500)
}

// showMemory adds what the servers occupy once they have been under load, when
// garbage and the events' index come on top.
func (b *bench) showMemory(few, many *server) {
	base, known := resident(few.process)
	full, alsoKnown := resident(many.process)
	if known && alsoKnown {
		b.table.add("resident memory after the load", megabytes(base, full))
	}
}

func megabytes(base, full float64) string {
	return fmt.Sprintf("%.0f MB with 10 webhooks, %.0f MB with 100,000", base/1e6, full/1e6)
}
