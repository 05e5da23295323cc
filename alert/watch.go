// Package alert tells people what they should know, wherever they are: conditions of the
// server become alerts, which are raised, resolved, kept, and sent as events that pipelines
// listen to. alert.get shows them, and alert.mute keeps one quiet.
//
// The facts come from packages jetstream, metrics and quarantine; package serve gathers
// them. How a message leaves the house is the pipelines' business.
package alert

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/value"
)

const (
	keptFor     = 30 * 24 * time.Hour // how long resolved alerts are kept
	maxKept     = 1000                // and how many
	toldFor     = 24 * time.Hour      // how long a state is not told twice
	stepTimeout = 30 * time.Second
)

// Options are what alerts are made of.
type Options struct {
	Records   sluice.Records[sluice.AlertRecord]
	Events    sluice.Events
	Namespace string
	Host      string // of this server, if several share the engine
	Log       *slog.Logger

	// Conditions returns the conditions that hold; with an error, those that are known.
	Conditions func(ctx context.Context, now time.Time) ([]Condition, error)

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

	mu   sync.Mutex // held during a step
	seen map[key]*sighting
}

// New returns the alerts of a server. Nothing happens until Run runs.
func New(o Options) *Alerts {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.After = cmp.Or(o.After, raisedAfter)
	return &Alerts{Options: o, seen: make(map[key]*sighting)}
}

// Run watches the conditions until ctx ends.
func (w *Alerts) Run(ctx context.Context) {
	told := ""
	for {
		err := w.Step(ctx)
		switch {
		case err == nil:
			told = ""
		case ctx.Err() == nil && err.Error() != told:
			w.Log.Warn("Alerts can't be watched or sent at the moment; trying on.", "error", err)
			told = err.Error()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(w.After / 12):
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
	v := judge(w.seen, w.Records.All(), conditions, w.Host, w.After, now)
	if err != nil {
		clear(v.resolve) // what is not known may still hold
	}
	for _, c := range v.raise {
		err = cmp.Or(err, w.raise(ctx, c, now))
	}
	for id, until := range v.resolve {
		err = cmp.Or(err, w.change(ctx, id, func(a *sluice.AlertRecord) bool {
			a.Until = until.Truncate(time.Millisecond)
			return true
		}))
	}
	for _, id := range v.renew {
		err = cmp.Or(err, w.change(ctx, id, func(a *sluice.AlertRecord) bool {
			a.Seen = now
			return true
		}))
	}
	return cmp.Or(err, w.tellAll(ctx, now), w.forget(ctx, now))
}

// held returns the conditions that held when they were last known, and are not among others.
func (w *Alerts) held(others []Condition) (held []Condition) {
	for k, s := range w.seen {
		if s.gone.IsZero() && !slices.ContainsFunc(others, func(c Condition) bool { return c.key() == k }) {
			held = append(held, s.Condition)
		}
	}
	return held
}

// Raise raises an alert at once, such as one about what was found at the start. It is
// resolved like any other, once its condition does not hold.
func (w *Alerts) Raise(ctx context.Context, c Condition) error {
	now := w.Now().UTC()
	if c.Since.IsZero() {
		c.Since = now
	}
	return cmp.Or(w.raise(ctx, c, now), w.tellAll(ctx, now))
}

// raise stores an alert, unless one of its kind and subject is open.
func (w *Alerts) raise(ctx context.Context, c Condition, now time.Time) error {
	a := sluice.AlertRecord{Seen: now, Alert: sluice.Alert{
		ID: strings.ToLower(rand.Text()[:10]), Kind: c.Kind, Subject: c.Subject, Severity: c.Severity, Since: c.Since.UTC().Truncate(time.Millisecond), Message: c.Message,
	}}
	_, err := w.Records.Change(ctx, a.ID, func(_ *sluice.AlertRecord, all map[string]*sluice.AlertRecord) (*sluice.AlertRecord, error) {
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

// change changes an open alert.
func (w *Alerts) change(ctx context.Context, id string, change func(*sluice.AlertRecord) bool) error {
	_, err := w.Records.Change(ctx, id, func(before *sluice.AlertRecord, _ map[string]*sluice.AlertRecord) (*sluice.AlertRecord, error) {
		if before == nil {
			return nil, sluice.ErrUnchanged
		}
		after := *before
		if !change(&after) {
			return nil, sluice.ErrUnchanged
		}
		return &after, nil
	})
	return sluice.Changed(err)
}

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
	muted := a.MutedUntil.After(now)
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
	return w.change(ctx, a.ID, func(after *sluice.AlertRecord) bool {
		if after.Told == sluice.AlertResolved {
			return false
		}
		after.Told = told
		return true
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
	shown := a.Alert
	shown.MutedUntil = time.Time{}
	if state == sluice.AlertRaised {
		shown.Until = time.Time{}
	}
	payload, err := value.Marshal(news{state, shown})
	if err != nil {
		return err
	}
	e := &sluice.Event{
		EventKey: sluice.AlertPrefix + string(a.Kind), Namespace: w.Namespace, TraceID: sluice.NewTraceID(sluice.DirectCall, now), ReceivedAt: now,
		Payload: payload, PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingJSON, ContentType: "application/json",
		Fingerprint: sluice.NewFingerprint(sluice.AlertPrefix, a.ID+state, payload, toldFor), BodyHash: sluice.HashBody(payload),
	}
	if a.Kind.AboutPipeline() {
		e.Except = a.Subject
	}
	_, err = w.Events.Accept(ctx, e, 0)
	return err
}

// forget deletes resolved alerts that are old, or too many.
func (w *Alerts) forget(ctx context.Context, now time.Time) error {
	over := slices.DeleteFunc(w.Records.All(), func(a *sluice.AlertRecord) bool { return a.Open() || a.Told != sluice.AlertResolved })
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

// Open returns the open alerts, those that began last first.
func (w *Alerts) Open() []sluice.Alert { return w.find(func(a *sluice.Alert) bool { return a.Open() }) }

func (w *Alerts) find(fits func(*sluice.Alert) bool) []sluice.Alert {
	found := []sluice.Alert{}
	for _, a := range w.Records.All() {
		if fits(&a.Alert) {
			found = append(found, a.Alert)
		}
	}
	slices.SortFunc(found, func(a, b sluice.Alert) int { return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID)) })
	return found
}
