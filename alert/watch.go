// Package alert tells people what they should know, wherever they are: conditions of the
// server become alerts, which are raised, resolved, kept, and sent as events that pipelines
// listen to. alert.get shows them, alert.mute keeps one quiet, and alert.put says when they count.
//
// The facts come from packages jetstream, metrics and quarantine; package serve gathers
// them. How a message leaves the house is the pipelines' business.
package alert

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/wait"
)

const (
	keptFor     = 30 * 24 * time.Hour // how long resolved alerts are kept
	maxKept     = 1000                // and how many
	stepTimeout = 30 * time.Second
)

// Options are what alerts are made of.
type Options struct {
	Records   sluice.Records[sluice.AlertRecord]
	Rules     sluice.Records[sluice.AlertRule]
	Events    sluice.Events
	Namespace string
	Host      string // of this server, if several share the engine
	PublicURL string // what links begin with; "" if nobody has said it
	Log       *slog.Logger

	// Conditions returns the conditions that hold; with an error, those that are known.
	Conditions func(ctx context.Context, now time.Time) ([]Condition, error)

	// Quiet reports whether nobody is to be told of anything, as by a copy of another server.
	Quiet func() bool

	// Hours returns the figures of the last hours in order, the current one included.
	Hours func(count int) []sluice.Minute

	// Tests set a clock, and how long a condition holds before its alert is raised. nil
	// means the real clock, and 0 a minute.
	Now   func() time.Time
	After time.Duration
}

// Alerts raises, resolves and tells alerts. The servers that share an engine do so together:
// a change of a record decides which of them raises an alert, and an event that several of
// them send is stored once.
type Alerts struct {
	Options

	mu     sync.Mutex // held during a step
	seen   map[key]sighting
	recent recentFigures
}

// New returns the alerts of a server. Nothing happens until Run runs.
func New(o Options) *Alerts {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.After = cmp.Or(o.After, raisedAfter)
	return &Alerts{Options: o, recent: recentFigures{}}
}

// Run watches the conditions until ctx ends.
func (w *Alerts) Run(ctx context.Context) {
	logged := ""
	for {
		err := w.Step(ctx)
		switch {
		case err == nil:
			logged = ""
		case ctx.Err() == nil && err.Error() != logged:
			w.Log.Warn("Alerts can't be watched or sent at the moment; trying on.", "error", err)
			logged = err.Error()
		}
		if wait.For(ctx, lookEvery(w.After)) != nil {
			return
		}
	}
}

// Step looks at the conditions once, and does what follows. What fails is done in a later
// step.
func (w *Alerts) Step(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	now := w.Now().UTC()
	conditions, err := w.Conditions(ctx, now)
	if err != nil {
		conditions = append(conditions, w.held(conditions)...)
	}
	v := judge(w.seen, w.Records.All(), w.counting(conditions, now), w.Host, w.After, now)
	w.seen = v.seen
	if err != nil {
		clear(v.resolve) // what is not known may still hold
	}
	errs := []error{err}
	for _, c := range v.raise {
		errs = append(errs, w.raise(ctx, c, now))
	}
	for id, until := range v.resolve {
		errs = append(errs, w.edit(ctx, id, func(a *sluice.AlertRecord) error {
			a.Until = until.Truncate(time.Millisecond)
			return nil
		}))
	}
	for id, c := range v.renew {
		errs = append(errs, w.edit(ctx, id, func(a *sluice.AlertRecord) error {
			a.Seen, a.Cause, a.Message = now, c.Cause, c.message(a.Since, now)
			return nil
		}))
	}
	return errors.Join(append(errs, w.tellAll(ctx, now), w.forget(ctx, now))...)
}

// held returns the conditions that held when they were last known, and are not among others.
func (w *Alerts) held(others []Condition) (held []Condition) {
	for k, s := range w.seen {
		if s.holds() && !slices.ContainsFunc(others, func(c Condition) bool { return c.key() == k }) {
			held = append(held, s.Condition)
		}
	}
	return held
}

// Raise raises an alert at once, such as one about what was found at the start. It is
// resolved like any other, once its condition does not hold.
func (w *Alerts) Raise(ctx context.Context, c Condition) error {
	if w.rule(c.Kind, c.Subject).Off {
		return nil
	}
	now := w.Now().UTC()
	if c.Since.IsZero() {
		c.Since = now
	}
	return errors.Join(w.raise(ctx, c, now), w.tellAll(ctx, now))
}

// raise stores an alert, unless one of its kind and subject is open.
func (w *Alerts) raise(ctx context.Context, c Condition, now time.Time) error {
	a := sluice.AlertRecord{Seen: now, Alert: sluice.Alert{
		ID: strings.ToLower(rand.Text()[:10]), Kind: c.Kind, Subject: c.Subject, Severity: c.Severity,
		Since: c.Since.UTC().Truncate(time.Millisecond), Cause: c.Cause, Message: c.message(c.Since, now),
	}}
	_, err := w.Records.Change(ctx, a.ID,
		func(_ *sluice.AlertRecord, all map[string]*sluice.AlertRecord) (*sluice.AlertRecord, error) {
			after := a
			for _, other := range all {
				if other.Kind != a.Kind || other.Subject != a.Subject {
					continue
				}
				if other.Open() {
					return nil, sluice.ErrUnchanged
				}
				after.Count = max(after.Count, other.Count)
				if other.MutedUntil.After(now) {
					after.MutedUntil = other.MutedUntil
				}
			}
			after.Count++
			return &after, nil
		})
	return sluice.Changed(err)
}

// edit edits an alert, if it is still there.
func (w *Alerts) edit(ctx context.Context, id string, edit func(*sluice.AlertRecord) error) error {
	_, err := sluice.Edit(ctx, w.Records, id, sluice.ErrUnchanged, edit)
	return err
}

// forget deletes resolved alerts that are old, or too many.
func (w *Alerts) forget(ctx context.Context, now time.Time) error {
	over := slices.DeleteFunc(w.Records.All(),
		func(a *sluice.AlertRecord) bool { return a.Open() || a.Told != sluice.AlertResolved })
	slices.SortFunc(over, func(a, b *sluice.AlertRecord) int { return b.Until.Compare(a.Until) })
	for i, a := range over {
		if i < maxKept && now.Sub(a.Until) < keptFor || a.MutedUntil.After(now) {
			continue
		}
		if err := sluice.Remove(ctx, w.Records, a.ID); err != nil {
			return err
		}
	}
	return nil
}
