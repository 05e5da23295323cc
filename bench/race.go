package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A contender is one of several loads that are measured in turn.
type contender struct {
	name   string
	load   load
	rounds []outcome
}

// race measures contenders in bursts that alternate, in another order each round.
// The first round warms up and does not count.
func (b *bench) race(ctx context.Context, contenders ...*contender) error {
	const settle = 200 * time.Millisecond // for what a server does after its calls
	for round := range b.rounds + 1 {
		for i := range contenders {
			c := contenders[(round+i)%len(contenders)]
			o, err := b.run(ctx, c.load, b.burst)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				c.rounds = append(c.rounds, o)
			}
			progressf("round %d of %d: %s calls/s, %d connections, %s", round, b.rounds, grouped(o.rate()), c.load.connections, c.name)
			pause(ctx, settle)
		}
	}
	return nil
}

// median gives the median over the rounds of one value of their outcomes.
func (c *contender) median(value func(outcome) float64) float64 {
	return median(each(c.rounds, value))
}

// String gives the medians of rate and latency.
func (c *contender) String() string {
	return fmt.Sprintf("%s calls/s, p50 %.1f ms, p99 %.1f ms",
		grouped(c.median(outcome.rate)),
		c.median(func(o outcome) float64 { return o.P50 }),
		c.median(func(o outcome) float64 { return o.P99 }))
}

// ratios gives how the rate of a contender compares to that of another one: the
// median over the rounds, the smallest and the largest.
func ratios(of, to *contender) (middle, least, most float64) {
	all := make([]float64, len(of.rounds))
	for i := range all {
		all[i] = of.rounds[i].rate() / to.rounds[i].rate()
	}
	return median(all), slices.Min(all), slices.Max(all)
}

// span writes a ratio and how far the rounds were apart.
func span(middle, least, most float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", middle, least, most)
}

func each[T any](items []T, value func(T) float64) []float64 {
	values := make([]float64, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	return values
}

// median gives the middle of some values, of two the mean.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
