package missed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice"
	"sluice/wait"
)

const (
	lookEvery = 20 * time.Second // whether a sender is to be asked
	overlap   = 10 * time.Minute // of two times that are asked about
	settled   = time.Minute      // after which a delivery should have come
	patience  = 20 * time.Second // of the others with one sender
)

// Run asks senders by itself, as their webhooks say, until ctx ends. Of several nodes one does
// it. Those that have tried the patience of the others are asked beside them.
func (f *Finder) Run(ctx context.Context) {
	var lanes sync.WaitGroup
	for _, slow := range []bool{false, true} {
		lanes.Go(func() {
			for wait.For(ctx, lookEvery) == nil {
				f.Step(ctx, time.Now().UTC(), slow)
			}
		})
	}
	lanes.Wait()
}

// atOnce is how many senders are asked at the same time, by users and by itself: each may answer
// with as much as a reply may have, or not at all.
const atOnce = 4

// Step asks about the webhooks whose time has come: of those whose senders are slow, or of all others.
func (f *Finder) Step(ctx context.Context, now time.Time, slow bool) {
	hooks := f.Webhooks()
	for _, run := range f.Runs.All() {
		if !slices.ContainsFunc(hooks, func(h *sluice.Webhook) bool { return h.UUID == run.UUID }) {
			_ = sluice.Remove(ctx, f.Runs, run.UUID) // the next step tries again
			f.slow.Delete(run.UUID)
		}
	}
	var asked errgroup.Group
	asked.SetLimit(atOnce)
	for _, hook := range hooks {
		if _, isSlow := f.slow.Load(hook.UUID); isSlow != slow {
			continue
		}
		asked.Go(func() error {
			began := time.Now()
			run := f.begin(ctx, hook, hook.MissedEvery, whenAsked, now)
			if run != nil {
				f.ask(ctx, *hook, run.Until, now, slow)
			}
			checked := f.begin(ctx, hook, hook.CheckEvery, whenChecked, now)
			if checked != nil {
				f.check(ctx, *hook)
			}
			switch {
			case time.Since(began) >= f.Patience:
				f.slow.Store(hook.UUID, true)
			case run != nil || checked != nil:
				f.slow.Delete(hook.UUID)
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

// ask gets what was missed since a time, or in the last day. A sender that others wait for is asked again beside
// them if it takes too long.
func (f *Finder) ask(ctx context.Context, hook sluice.Webhook, since, now time.Time, slow bool) {
	from, until := since.Add(-overlap), now.Add(-settled)
	if since.IsZero() {
		from = now.Add(-defaultSpan)
	}
	within := f.Patience
	if slow {
		within = askTime
	}
	found, err := f.Find(ctx, within, hook, from, until, false)
	at := now
	switch {
	case errors.Is(err, errSlow) && !slow:
		at = time.Time{}
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
