package main

import (
	"context"
	"fmt"
	"strings"
)

// compareFilters adds how fast a pipeline passes over events that it does not want, beside one that
// ends a run for each of them. Both want the last event alone.
func (b *bench) compareFilters(ctx context.Context, p *pipelineServer) error {
	token, err := p.createWebhook(ctx, filteredKey)
	if err != nil {
		return err
	}
	steps := threeSteps(filteredKey)
	ending := &contender{name: "events of a backlog that a run ends with exit"}
	passing := &contender{name: "events of a backlog that where passes over"}
	sources := map[*contender]string{
		ending: strings.Replace(steps, "  - convert", "  - exit: {if: '#{body.query.n[0] != \"last\"}'}\n  - convert", 1),
		passing: strings.Replace(steps, filteredKey+"}",
			filteredKey+", where: '#{body.query.n[0] == \"last\"}'}", 1),
	}
	for round := range min(backlogRounds, b.rounds) {
		for _, c := range []*contender{ending, passing} {
			took, err := p.drain(ctx, token, filteredKey, sources[c])
			if err != nil {
				return fmt.Errorf("filters: %w", err)
			}
			o := measurement{Requests: backlogEvents, Seconds: took.Seconds()}
			c.rounds = append(c.rounds, o)
			progressf("round %d: %s events/s, %s", round+1, grouped(o.rate()), c.name)
		}
	}
	for _, c := range []*contender{ending, passing} {
		b.table.add(c.name, grouped(c.median(measurement.rate))+" events/s")
	}
	b.holdRatio(ratio{"where on a backlog, to a run that ends with exit", passing, ending, atLeast(5, "5")})
	return nil
}

const filteredKey = "webhook.bench.filtered"
