package alert

import (
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/value"
)

// tellAll sends the events about alerts that nobody was told of yet, oldest first.
func (w *Alerts) tellAll(ctx context.Context, now time.Time) error {
	records := w.Records.All()
	slices.SortFunc(records, func(a, b *sluice.AlertRecord) int { return a.Since.Compare(b.Since) })
	for _, a := range records {
		if err := w.tell(ctx, *a, now); err != nil {
			return err
		}
	}
	return nil
}

// tell sends what was not told of an alert. One that was raised while it was muted is told
// when that is over, if it is still open. One that is resolved while it is muted is not told
// of at all.
func (w *Alerts) tell(ctx context.Context, a sluice.AlertRecord, now time.Time) error {
	muted := a.MutedUntil.After(now) || w.rule(a.Kind, a.Subject).Off || w.Quiet()
	if a.Told == sluice.AlertResolved || a.Open() && (muted || a.Told == sluice.AlertRaised) {
		return nil
	}
	told := sluice.AlertRaised
	if !a.Open() {
		told = sluice.AlertResolved
	}
	if a.Told == "" && !muted {
		if err := w.send(ctx, &a, sluice.AlertRaised, now); err != nil {
			return err
		}
	}
	if !a.Open() && !muted {
		if err := w.send(ctx, &a, sluice.AlertResolved, now); err != nil {
			return err
		}
	}
	return w.edit(ctx, a.ID, func(after *sluice.AlertRecord) error {
		if after.Told == sluice.AlertResolved {
			return sluice.ErrUnchanged
		}
		after.Told = told
		return nil
	})
}

// news is the payload of an event about an alert.
type news struct {
	State string `json:"state"`
	sluice.Alert
}

// send sends an event about an alert. Another server may have sent it as well: then it is
// not stored again. A pipeline is not told of itself.
func (w *Alerts) send(ctx context.Context, a *sluice.AlertRecord, state string, now time.Time) error {
	view := w.view(a.Alert)
	view.MutedUntil = time.Time{}
	if state == sluice.AlertRaised {
		view.Until = time.Time{}
	} else {
		view.Title = a.Kind.Words(a.Subject).Over
		view.Message = allClear(view, now)
	}
	payload, err := value.Marshal(news{state, view})
	if err != nil {
		return err
	}
	e := sluice.OwnEvent(w.Namespace, sluice.AlertPrefix+string(a.Kind), a.ID+state, payload, now)
	if a.Kind.AboutPipeline() {
		e.Except = a.Subject
	}
	_, err = w.Events.Accept(ctx, e, 0)
	return err
}
