package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"sluice"
)

// measureWork measures how many items of work 16 workers take and do in a second.
func measureWork(ctx context.Context, b *bench) error {
	const items, workers, atOnce = 20_000, 16, 20
	s, tokens, err := b.startWithWebhooks(ctx, "work", 1, groupCommit, "result-wait=1ms")
	if err != nil {
		return err
	}
	if err := s.storePipeline(ctx, "asks", fmt.Sprintf(`pipeline:
  - event.listen: {eventKey: %s}
  - work: {queue: bench, within: 1h, input: 1}
`, benchKey(0))); err != nil {
		return err
	}
	if err := inParallel(ctx, writers, items, func(ctx context.Context, _ int) error {
		_, err := s.send(ctx, newReceive(tokens[0]))
		return err
	}); err != nil {
		return s.failed(err)
	}
	for offered := 0; offered < items; pause(ctx, time.Second/10) {
		var queues []sluice.WorkQueue
		if err := s.command(ctx, "work.queues", url.Values{}, &queues); err != nil {
			return err
		}
		for _, q := range queues {
			offered = q.Waiting
		}
	}
	began := time.Now()
	err = inParallel(ctx, workers, items/atOnce, func(ctx context.Context, _ int) error {
		var taken struct{ Items []sluice.WorkItem }
		if err := s.command(ctx, "work.take", url.Values{
			"queue": {"bench"}, "limit": {strconv.Itoa(atOnce)}, "wait": {"10s"},
		}, &taken); err != nil {
			return err
		}
		if len(taken.Items) != atOnce {
			return fmt.Errorf("%d items instead of %d", len(taken.Items), atOnce)
		}
		for _, item := range taken.Items {
			if err := s.command(ctx, "work.done", url.Values{"lease": {item.Lease}, "value": {"1"}}, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.failed(err)
	}
	rate := items / time.Since(began).Seconds()
	b.table.hold(fmt.Sprintf("items of work, taken %d at a time and done by %d workers", atOnce, workers),
		grouped(rate)+"/s", rate, atLeast(2000, "2,000/s"))
	progressf("%s items of work a second", grouped(rate))
	return nil
}
