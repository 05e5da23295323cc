package main

import (
	"context"
	"fmt"
	"time"
)

// measureStart measures the time from the start of the process to ready: on a
// folder that isn't there yet, then with many events. Of these the first start
// is after a kill under load, since a server that was never stopped cleanly has
// the most to read; the others are after clean stops. The files are in the page
// cache.
func measureStart(ctx context.Context, b *bench) error {
	var empty []float64
	for i := range b.rounds {
		s, err := b.startSluice(ctx, fmt.Sprintf("empty-%d", i), groupCommit)
		if err != nil {
			return err
		}
		empty = append(empty, s.ready.Seconds()*1e3)
		s.kill()
	}
	b.holdStart("start to ready, empty", empty, 300)
	calls, s, _, err := b.startFull(ctx, 1, nil)
	if err != nil {
		return err
	}
	b.killUnderLoad(ctx, s, calls)
	if s, err = b.startSluice(ctx, "full", groupCommit); err != nil {
		return err
	}
	b.holdStart("start to ready, 1,000,000 events, after a kill", []float64{s.ready.Seconds() * 1e3}, 3000)
	const cleanStarts = 3
	var clean []float64
	for range cleanStarts {
		if s, err = b.restart(ctx, s, "full"); err != nil {
			return err
		}
		clean = append(clean, s.ready.Seconds()*1e3)
	}
	b.holdStart("start to ready, 1,000,000 events, after a clean stop", clean, 1000)
	return nil
}

// holdStart adds the median of start times, in milliseconds.
func (b *bench) holdStart(figure string, times []float64, limit float64) {
	middle := median(times)
	b.table.hold(figure, grouped(middle)+" ms", middle, under(limit, grouped(limit)+" ms"))
	progressf("%s: %.0f ms", figure, times)
}

// killUnderLoad kills a server while it takes calls.
func (b *bench) killUnderLoad(ctx context.Context, s *server, calls load) {
	const longest = 10 * time.Second
	calling, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		_, _ = b.run(calling, calls, longest) // fails with its server
		close(done)
	}()
	pause(ctx, time.Second)
	s.kill()
	cancel()
	<-done
}
