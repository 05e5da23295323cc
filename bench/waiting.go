package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"sluice"
)

const (
	waitingEvents    = 1_000_000
	waitingPipelines = 10 // that wait for an event each, so that there are fewer calls to make
)

// measureWaiting measures a server with many events that wait for their next attempt: its memory, how
// long it takes to start after a kill, and to say what it is doing.
func measureWaiting(ctx context.Context, b *bench) error {
	for _, c := range []struct {
		events   int
		memory   float64 // that the server may take, in MB
		settings []string
	}{
		{events: waitingEvents / 5, memory: 512 * 1.048576, settings: []string{"memory-limit=512MiB"}},
		{events: waitingEvents, memory: 400},
	} {
		if err := b.measureWaitingAt(ctx, c.events, c.memory, c.settings...); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) measureWaitingAt(ctx context.Context, events int, memory float64, settings ...string) error {
	name := fmt.Sprint("waiting-", events)
	s, tokens, err := b.startWithWebhooks(ctx, name, 1, groupCommit, settings...)
	if err != nil {
		return err
	}
	empty, _ := resident(s.process)
	if err := s.letWait(ctx, tokens[0], events); err != nil {
		return s.failed(err)
	}
	text := grouped(float64(events)) + " events that wait for their next attempt"
	full, known := resident(s.process)
	if known {
		b.table.add("resident memory while they are made, "+text, fmt.Sprintf("%s MB; %s bytes each", grouped(full/1e6),
			grouped((full-empty)/float64(events))))
	}
	s.kill()
	if s, err = b.startSluice(ctx, name, groupCommit, settings...); err != nil {
		return err
	}
	defer s.kill()
	ready := s.ready.Seconds()
	b.table.hold("start to ready after a kill, "+text, fmt.Sprintf("%.1f s", ready), ready, under(5, "5 s"))
	if err := s.awaitWaiting(ctx, events); err != nil {
		return err
	}
	const calls = 5
	var times []float64
	for range calls {
		began := time.Now()
		if _, err := s.waitingNow(ctx); err != nil {
			return err
		}
		times = append(times, milliseconds(began))
	}
	b.table.add("server.stats, "+text, grouped(median(times))+" ms")
	if full, known = resident(s.process); known {
		b.table.hold("resident memory after the start, "+text, grouped(full/1e6)+" MB", full/1e6,
			under(memory, grouped(memory)+" MB"))
	}
	progressf("%s: ready after %.1f s, %s MB", text, ready, grouped(full/1e6))
	return nil
}

// letWait makes events wait for their next attempt.
func (c *client) letWait(ctx context.Context, token string, events int) error {
	for i := range waitingPipelines {
		if err := c.storePipeline(ctx, fmt.Sprint("waits-", i), fmt.Sprintf(`retry: {times: 3, backoff: 24h}
pipeline:
  - event.listen: {eventKey: %s}
  - fail: {message: Not yet., statusCode: 503}
`, benchKey(0))); err != nil {
			return err
		}
	}
	if err := inParallel(ctx, writers, events/waitingPipelines, func(ctx context.Context, i int) error {
		if i > 0 && i%10_000 == 0 {
			progressf("%s of %s events wait", grouped(float64(i*waitingPipelines)), grouped(float64(events)))
		}
		_, err := c.send(ctx, newReceive(token))
		return err
	}); err != nil {
		return err
	}
	return c.awaitWaiting(ctx, events)
}

// awaitWaiting returns when so many events wait for their next attempt.
func (c *client) awaitWaiting(ctx context.Context, events int) error {
	for range 600 {
		if waiting, err := c.waitingNow(ctx); err == nil && waiting == int64(events) {
			return nil
		}
		pause(ctx, time.Second/2)
	}
	return errors.New("not all events wait for their next attempt")
}

func (c *client) waitingNow(ctx context.Context) (waiting int64, err error) {
	var stats sluice.ServerStats
	err = c.command(ctx, "server.stats", url.Values{}, &stats)
	for _, p := range stats.Pipelines {
		waiting += p.Retrying
	}
	return waiting, err
}
