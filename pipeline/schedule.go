package pipeline

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/pipeline/cron"
	"sluice/value"
)

const (
	// lookAtClock is how often schedules are looked at, so that a clock that is set counts soon.
	lookAtClock = 10 * time.Second
	// setBack is by how much a clock must be set back for times to come again. Those that an event
	// was sent for make no second one.
	setBack = time.Hour
	// maxMissed bounds the missed times that are counted: a clock may be set ahead by years.
	maxMissed = 100_000
)

// KeepTime sends the events of schedules until ctx ends.
func (r *Runner) KeepTime(ctx context.Context) {
	for ctx.Err() == nil {
		changed, now := r.Store.Changed(), time.Now() // before looking, so that no change is missed
		wait := lookAtClock
		for _, p := range r.Store.All() {
			program, err := r.program(p)
			if err != nil || program.Trigger == nil || program.Trigger.Schedule == nil {
				continue
			}
			next, err := r.tick(ctx, p, program.Trigger.Schedule, now)
			if err != nil && ctx.Err() == nil {
				r.Log.Warn("The event of a schedule could not be sent; trying on.", "pipeline", p.Name, "error", err)
				next = now.Add(time.Second)
			}
			wait = min(wait, next.Sub(now))
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// tick sends the events that are due by a schedule, and returns its next time. What is sent is
// decided and stored first. If a process ends behind that, the event is sent again, with the same
// identity.
func (r *Runner) tick(
	ctx context.Context, p *sluice.Pipeline, schedule *cron.Schedule, now time.Time,
) (next time.Time, err error) {
	var t sluice.Ticking
	decide := func(before *sluice.Ticking) (*sluice.Ticking, error) {
		var goesOn bool
		if t, goesOn = tickingOf(p, schedule, before); !t.Sent {
			return nil, sluice.ErrUnchanged // its event comes first
		}
		if t.At.After(now.Add(setBack)) {
			t.At, goesOn = now, false
		}
		if at, missed := due(schedule, t.At, now); !at.IsZero() {
			t.At, t.Missed, t.Sent = at, missed, false
		}
		if t.Sent && goesOn {
			return nil, sluice.ErrUnchanged
		}
		return &t, nil
	}
	for {
		known, err := r.Tickings.Get(ctx, p.Name)
		if _, idle := decide(known); err == nil && idle == nil {
			_, err = sluice.Replace(ctx, r.Tickings, p.Name, decide)
		}
		if err == nil && !t.Sent {
			err = r.sendTick(ctx, p.Name, t)
		}
		if err != nil || t.Sent {
			return schedule.Next(now), err
		}
	}
}

// tickingOf returns where a schedule stands, and whether it goes on from there. Another schedule begins anew.
func tickingOf(p *sluice.Pipeline, schedule *cron.Schedule, before *sluice.Ticking) (t sluice.Ticking, goesOn bool) {
	if before != nil && before.Schedule == schedule.Text && before.Created.Equal(p.Created) {
		return *before, true
	}
	return sluice.Ticking{Schedule: schedule.Text, Created: p.Created, At: p.Updated, Sent: true}, false
}

// due returns the latest time of a schedule after one and up to another, zero if there is none, and how many came
// before it.
func due(schedule *cron.Schedule, after, now time.Time) (latest time.Time, missed int) {
	for missed = -1; missed < maxMissed; missed++ {
		at := schedule.Next(cmp.Or(latest, after))
		if at.After(now) {
			return latest, missed
		}
		latest = at
	}
	for span := time.Hour; latest.Before(now.Add(-span)); span *= 2 {
		for at := schedule.Next(now.Add(-span)); !at.After(now); at = schedule.Next(at) {
			latest = at
		}
	}
	for at := schedule.Next(latest); !at.After(now); at = schedule.Next(at) {
		latest = at
	}
	return latest, missed
}

// sendTick sends an event that was decided, and stores that it was.
func (r *Runner) sendTick(ctx context.Context, pipeline string, t sluice.Ticking) error {
	payload, err := value.Marshal(struct {
		At     time.Time `json:"at"`
		Missed int       `json:"missed"`
	}{t.At, t.Missed})
	if err == nil {
		_, err = r.Events.Accept(ctx, sluice.OwnEvent(r.Namespace, sluice.SchedulePrefix+pipeline,
			t.At.Format(time.RFC3339), payload, time.Now().UTC()), 0)
	}
	if err != nil {
		return err
	}
	_, err = sluice.Edit(ctx, r.Tickings, pipeline, sluice.ErrUnchanged, func(after *sluice.Ticking) error {
		if after.Sent || !after.At.Equal(t.At) {
			return sluice.ErrUnchanged // another node did it
		}
		after.Sent = true
		return nil
	})
	return err
}
