package alert

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/command"
)

const (
	raisedAfter = time.Minute   // the usual Options.After
	seenEvery   = time.Minute   // how often a server among several renews its own alerts
	serverGone  = 3 * seenEvery // and when it is believed to have gone
)

// A Condition is something that people should know of, while it holds.
type Condition struct {
	Kind     sluice.AlertKind
	Subject  string
	Severity string
	Message  string
	Since    time.Time // since when it is known to hold; zero: since it was first seen
}

// A key tells alerts apart.
type key struct {
	kind    sluice.AlertKind
	subject string
}

func (c Condition) key() key { return key{c.Kind, c.Subject} }

// A sighting is what a server knows of a condition that holds, or has just ceased to.
type sighting struct {
	Condition

	gone time.Time // when it was first found not to hold; zero while it holds
}

// A verdict says what becomes of alerts.
type verdict struct {
	raise   []Condition
	resolve map[string]time.Time // ids of alerts, with when they ceased to hold
	renew   []string             // ids of open alerts of this server
}

// judge decides what becomes of alerts, and updates what was seen. A condition that held long
// enough is raised even if it has ceased to hold before that could be stored. An alert is
// resolved once it has not held for a sixth of that time.
//
// Some conditions are about one server: its subject is host, empty if there is only one. Other
// servers can't judge them; they resolve the alerts of one that has gone.
func judge(seen map[key]*sighting, records []*sluice.AlertRecord, conditions []Condition, host string, after time.Duration, now time.Time) verdict {
	open, last := latest(records)
	holds := observe(seen, last, conditions, now)
	v := verdict{resolve: make(map[string]time.Time)}
	for k, a := range open {
		switch {
		case ofServer(k.kind) && k.subject != host:
			if now.Sub(a.Seen) >= serverGone {
				v.resolve[a.ID] = now
			}
		case seen[k] == nil:
			seen[k] = &sighting{Condition: Condition{Kind: k.kind, Subject: k.subject, Since: a.Since}}
		}
	}
	for k, s := range seen {
		if !holds[k] && s.gone.IsZero() {
			s.gone = now
		}
		v.about(seen, s, open[k], host, after, now)
	}
	return v
}

// about decides about one condition, whose alert is nil if none is open.
func (v *verdict) about(seen map[key]*sighting, s *sighting, open *sluice.AlertRecord, host string, after time.Duration, now time.Time) {
	holds, until := s.gone.IsZero(), s.gone
	if holds {
		until = now
	}
	switch {
	case open != nil && holds:
		if host != "" && ofServer(s.Kind) && now.Sub(open.Seen) >= seenEvery {
			v.renew = append(v.renew, open.ID)
		}
	case open != nil:
		if now.Sub(s.gone) >= after/6 {
			v.resolve[open.ID] = s.gone
			delete(seen, s.key())
		}
	case until.Sub(s.Since) >= after && s.Message != "":
		v.raise = append(v.raise, s.Condition)
	case !holds:
		delete(seen, s.key())
	}
}

// observe notes the conditions that hold, and returns which ones do. last is when alerts were
// last resolved.
func observe(seen map[key]*sighting, last map[key]time.Time, conditions []Condition, now time.Time) map[key]bool {
	holds := make(map[key]bool)
	for _, c := range conditions {
		k := c.key()
		holds[k] = true
		if c.Since.IsZero() || c.Since.After(now) {
			c.Since = now
			if s := seen[k]; s != nil {
				c.Since = s.Since
			}
		}
		if c.Since.Before(last[k]) { // it has been resolved since: by another server, or by a moment in which it did not hold
			c.Since = last[k]
		}
		seen[k] = &sighting{Condition: c}
	}
	return holds
}

// latest returns the open alerts, and when others were last resolved.
func latest(records []*sluice.AlertRecord) (open map[key]*sluice.AlertRecord, resolved map[key]time.Time) {
	open, resolved = make(map[key]*sluice.AlertRecord), make(map[key]time.Time)
	for _, a := range records {
		k := key{a.Kind, a.Subject}
		switch {
		case a.Open():
			open[k] = a
		case a.Until.After(resolved[k]):
			resolved[k] = a.Until
		}
	}
	return open, resolved
}

func ofServer(k sluice.AlertKind) bool { return !k.AboutPipeline() && !k.AboutWebhook() }

// Commands returns the commands about alerts.
func Commands(w *Alerts) []command.Command { return []command.Command{getCommand(w), muteCommand(w)} }

type getParams struct {
	Open  *bool     `json:"open" doc:"true: only those that are open; false: only those that are over. Default: all."`
	Kind  string    `json:"kind" enum:"pipeline-failing,dead-letters,backlog,silence,quarantine,disk,certificate,closed,damage,engine" doc:"Only alerts of this kind."`
	From  time.Time `json:"from" doc:"Only alerts that were open at this time or later."`
	Limit int       `json:"limit" min:"1" max:"1000" doc:"At most this many. Default 100."`
}

const defaultLimit = 100

func getCommand(w *Alerts) command.Command {
	return command.New("alert.get", "Show alerts, newest first: what is wrong now, and what was in the last 30 days.",
		func(ctx context.Context, p getParams) (sluice.List[sluice.Alert], error) {
			cover := sluice.CoverFrom(ctx)
			found := w.find(func(a *sluice.Alert) bool {
				return cover.Alert(a.Kind, a.Subject) && (p.Open == nil || *p.Open == a.Open()) && (p.Kind == "" || p.Kind == string(a.Kind)) && (a.Open() || !a.Until.Before(p.From))
			})
			return sluice.List[sluice.Alert]{Items: found[:min(len(found), cmp.Or(p.Limit, defaultLimit))]}, nil
		}, command.ReadOnly, command.Listed)
}

type muteParams struct {
	ID  string         `json:"id" required:"true" audit:"yes" names:"listed" doc:"Id of the alert."`
	For *time.Duration `json:"for" required:"true" max:"720h" audit:"yes" doc:"How long, such as 1h; 0s ends it."`
}

func muteCommand(w *Alerts) command.Command {
	return command.New("alert.mute", "Send nothing of an alert for a while, neither that it is raised nor that it is resolved. If it is raised meanwhile and still open afterwards, that is sent then.",
		func(ctx context.Context, p muteParams) (sluice.Alert, error) {
			after, err := w.Records.Change(ctx, p.ID, func(before *sluice.AlertRecord, _ map[string]*sluice.AlertRecord) (*sluice.AlertRecord, error) {
				if before == nil || !sluice.CoverFrom(ctx).Alert(before.Kind, before.Subject) {
					return nil, sluice.Errorf(sluice.CodeAlertUnknown, "There is no alert with that id; alert.get lists those there are.").About("id")
				}
				muted := *before
				muted.MutedUntil = time.Time{}
				if *p.For > 0 {
					muted.MutedUntil = w.Now().UTC().Add(*p.For).Truncate(time.Millisecond)
				}
				return &muted, nil
			})
			if err != nil {
				return sluice.Alert{}, err
			}
			return after.Alert, nil
		})
}
