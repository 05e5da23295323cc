package missed

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice"
)

const (
	lookEvery = 20 * time.Second // whether a sender is to be asked
	overlap   = 10 * time.Minute // of two times that are asked about
	settled   = time.Minute      // after which a delivery should have come
)

// Run asks senders by itself, as their webhooks say, until ctx ends. Of several nodes one does
// it.
func (f *Finder) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
			f.Step(ctx, time.Now().UTC())
		}
	}
}

// atOnce is how many senders are asked at the same time, by users and by itself: each may answer
// with as much as a reply may have, or not at all.
const atOnce = 4

// Step asks about the webhooks whose time has come.
func (f *Finder) Step(ctx context.Context, now time.Time) {
	hooks := f.Webhooks()
	for _, run := range f.Runs.All() {
		if !slices.ContainsFunc(hooks, func(h *sluice.Webhook) bool { return h.UUID == run.UUID }) {
			_ = sluice.Remove(ctx, f.Runs, run.UUID) // the next step tries again
		}
	}
	var asked errgroup.Group
	asked.SetLimit(atOnce)
	for _, hook := range hooks {
		asked.Go(func() error {
			if run := f.begin(ctx, hook, hook.MissedEvery, whenAsked, now); run != nil {
				f.ask(ctx, *hook, run.Until, now)
			}
			if f.begin(ctx, hook, hook.CheckEvery, whenChecked, now) != nil {
				f.check(ctx, *hook)
			}
			return nil
		})
	}
	_ = asked.Wait() // none has an error
}

func whenAsked(run *sluice.MissedRun) *time.Time   { return &run.Time }
func whenChecked(run *sluice.MissedRun) *time.Time { return &run.Checked }

// begin notes that the sender of a webhook is asked now, and returns what is known of it; nil if it is not asked by
// itself, it is not time yet, or another node does it. last is when that was done before.
func (f *Finder) begin(
	ctx context.Context, hook *sluice.Webhook, every time.Duration, last func(*sluice.MissedRun) *time.Time,
	now time.Time,
) *sluice.MissedRun {
	due := func(run *sluice.MissedRun) bool { return every > 0 && now.Sub(*last(run)) >= every }
	if known, err := f.Runs.Get(ctx, hook.UUID); err != nil || !due(runOf(known, hook)) {
		return nil
	}
	begun, err := sluice.Replace(ctx, f.Runs, hook.UUID, func(before *sluice.MissedRun) (*sluice.MissedRun, error) {
		run := runOf(before, hook)
		if !due(run) {
			return nil, sluice.ErrUnchanged
		}
		*last(run) = now
		return run, nil
	})
	if err != nil {
		return nil // the next step tries again
	}
	return begun
}

// ask gets what was missed since a time, or in the last day.
func (f *Finder) ask(ctx context.Context, hook sluice.Webhook, since, now time.Time) {
	from, until := since.Add(-overlap), now.Add(-settled)
	if since.IsZero() {
		from = now.Add(-defaultSpan)
	}
	found, err := f.Find(ctx, hook, from, until, false)
	at := now
	switch {
	case err != nil:
		f.Log.WarnContext(ctx, "The sender of a webhook can't be asked what was missed; trying on.",
			"eventKey", hook.EventKey, "error", err)
		if pause := sluice.AsError(err).RetryAfter; pause > 0 {
			at = now.Add(pause - hook.MissedEvery)
		}
	case found.Missed > 0:
		f.Log.WarnContext(ctx, "Calls of a webhook were missed, and its sender was asked for them.",
			"eventKey", hook.EventKey, "asked", found.Asked, "missed", found.Missed)
	}
	_, failed := sluice.Replace(ctx, f.Runs, hook.UUID, func(before *sluice.MissedRun) (*sluice.MissedRun, error) {
		run := runOf(before, &hook)
		if run.Time = at; err == nil {
			run.Until = until
		}
		return run, nil
	})
	if failed != nil && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "It can't be noted how far the sender of a webhook was asked.",
			"eventKey", hook.EventKey, "error", failed)
	}
}

// runOf returns what is known of a webhook, to be changed.
func runOf(before *sluice.MissedRun, hook *sluice.Webhook) *sluice.MissedRun {
	run := *cmp.Or(before, new(sluice.MissedRun))
	run.UUID, run.EventKey = hook.UUID, hook.EventKey
	return &run
}

// check asks the sender of a webhook whether it still calls.
func (f *Finder) check(ctx context.Context, hook sluice.Webhook) {
	found, err := f.Check(ctx, hook)
	if err != nil || found.State != sluice.SubscriptionActive {
		f.Log.WarnContext(ctx, "It is not sure that the sender of a webhook still calls it.",
			"eventKey", hook.EventKey, "state", found.State, "message", found.Message, "error", err)
	}
}
