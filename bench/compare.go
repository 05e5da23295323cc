package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// A contender is one of several loads that are measured in turn. Its name is
// that of its figure.
type contender struct {
	name   string
	load   load
	rounds []measurement
}

// A ratio is a figure that compares the rates of two contenders.
type ratio struct {
	figure string
	of, to *contender
	bar    bar
}

// compare measures contenders, and adds a figure for each of them and for each
// ratio.
func (b *bench) compare(ctx context.Context, contenders []*contender, ratios ...ratio) error {
	if err := b.alternate(ctx, contenders); err != nil {
		return err
	}
	for _, c := range contenders {
		b.table.add(c.name, c.String())
	}
	for _, r := range ratios {
		b.holdRatio(r)
	}
	return nil
}

// alternate measures contenders in bursts that alternate, in another order each
// round. The first round warms up and does not count.
func (b *bench) alternate(ctx context.Context, contenders []*contender) error {
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
			progressf("round %d of %d: %s calls/s, %s", round, b.rounds, grouped(o.rate()), c.name)
			pause(ctx, settle)
		}
	}
	return nil
}

// holdRatio adds how the rates of two contenders compare.
func (b *bench) holdRatio(r ratio) {
	middle, least, most := r.measured()
	b.table.hold(r.figure, fmt.Sprintf("%.2f (%.2f to %.2f)", middle, least, most), middle, r.bar)
}

// measured returns the median of the ratio over the rounds, the smallest and
// the largest.
func (r ratio) measured() (middle, least, most float64) {
	all := make([]float64, len(r.of.rounds))
	for i := range all {
		all[i] = r.of.rounds[i].rate() / r.to.rounds[i].rate()
	}
	return median(all), slices.Min(all), slices.Max(all)
}

// String returns the medians of rate and latency.
func (c *contender) String() string {
	return fmt.Sprintf("%s calls/s, p50 %.1f ms, p99 %.1f ms",
		grouped(c.median(measurement.rate)),
		c.median(func(o measurement) float64 { return o.P50 }),
		c.median(func(o measurement) float64 { return o.P99 }))
}

// slowest returns the longest latency of a call, in milliseconds.
func (c *contender) slowest() float64 {
	return slices.MaxFunc(c.rounds, func(a, b measurement) int { return cmp.Compare(a.Max, b.Max) }).Max
}

// median returns the median over the rounds of one value of their measurements.
func (c *contender) median(value func(measurement) float64) float64 {
	values := make([]float64, len(c.rounds))
	for i, o := range c.rounds {
		values[i] = value(o)
	}
	return median(values)
}

// median returns the middle of some values, of two the mean.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// percentile returns the value that this many of a hundred do not exceed.
func percentile(values []float64, of int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)*of/100, len(sorted)-1)]
}

// milliseconds returns the time since a moment.
func milliseconds(since time.Time) float64 { return time.Since(since).Seconds() * 1e3 }
