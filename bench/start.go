package main

import (
	"context"
	"fmt"
	"time"
)

// storedEvents is how many events a server starts with.
const storedEvents = 1_000_000

// measureStart measures the time from the start of the process to ready.
func measureStart(ctx context.Context, b *bench) error {
	if err := b.startEmpty(ctx); err != nil {
		return err
	}
	return b.startFull(ctx)
}

// startEmpty measures the start on a folder that isn't there yet.
func (b *bench) startEmpty(ctx context.Context) error {
	var times []float64
	for i := range b.rounds {
		s, err := b.startSluice(ctx, fmt.Sprintf("empty-%d", i), groupCommit)
		if err != nil {
			return err
		}
		times = append(times, s.ready.Seconds())
		s.kill()
	}
	b.holdStart("start to ready, empty", times, 300*time.Millisecond)
	return nil
}

// startFull measures the start with many events: after a kill under load first,
// since a server that was never stopped cleanly has the most to read, then
// after clean stops. The files are in the page cache.
func (b *bench) startFull(ctx context.Context) error {
	const cleanStarts = 3
	calls, s, err := b.fill(ctx, 1)
	if err != nil {
		return err
	}
	b.killUnderLoad(ctx, s, calls)
	if s, err = b.startSluice(ctx, "full", groupCommit); err != nil {
		return err
	}
	b.holdStart("start to ready, 1,000,000 events, after a kill", []float64{s.ready.Seconds()}, 3*time.Second)
	var times []float64
	for range cleanStarts {
		if err := s.stop(); err != nil {
			return err
		}
		if s, err = b.startSluice(ctx, "full", groupCommit); err != nil {
			return err
		}
		times = append(times, s.ready.Seconds())
	}
	b.holdStart("start to ready, 1,000,000 events, after a clean stop", times, time.Second)
	return nil
}

// holdStart adds the median of start times.
func (b *bench) holdStart(figure string, seconds []float64, bar time.Duration) {
	middle := median(seconds)
	b.table.hold(figure, grouped(middle*1e3)+" ms", "under "+grouped(float64(bar.Milliseconds()))+" ms", middle < bar.Seconds())
	progressf("%s: %.3f s", figure, seconds)
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
