package alert

import (
	"cmp"
	"time"

	"sluice"
)

const (
	raisedAfter = time.Minute   // the usual Options.After
	seenEvery   = time.Minute   // how often alerts are renewed: by their server, and if there is news
	serverGone  = 3 * seenEvery // and when it is believed to have gone
)

// A Condition is something that people should know of, while it holds.
type Condition struct {
	Kind     sluice.AlertKind
	Subject  string
	Severity string
	Cause    string    // the latest failure, or what was found
	Many     string    // how many things it is about, in words
	Since    time.Time // since when it is known to hold; zero: since it was first seen

	amount int           // of the things that rules count
	after  time.Duration // how long it must hold; 0: as long as others
}

// A key tells alerts apart.
type key struct {
	kind    sluice.AlertKind
	subject string
}

func (c *Condition) key() key { return key{c.Kind, c.Subject} }

// A sighting is what a server knows of a condition that holds, or has just ceased to.
type sighting struct {
	Condition

	gone    time.Time // when it was first found not to hold; zero while it holds
	foreign bool      // only its open alert is known, which this server has not raised
}

func (s sighting) holds() bool { return s.gone.IsZero() }

// A state is where a condition is in its life.
type state int

const (
	inactive state = iota // it does not hold, and no alert is open
	pending               // it holds, and not for long enough
	due                   // it held for long enough, and its alert must be raised
	firing                // its alert is open, and it holds
	ceasing               // its alert is open, and it does not hold any more
)

// state returns the state of a condition. One that held long enough is due even if it has
// ceased to hold before its alert could be stored.
func (s sighting) state(open bool, after time.Duration, now time.Time) state {
	until := s.gone
	if s.holds() {
		until = now
	}
	switch {
	case open && s.holds():
		return firing
	case open:
		return ceasing
	case until.Sub(s.Since) >= after && !s.foreign:
		return due
	case s.holds():
		return pending
	}
	return inactive
}

// resolvedAfter returns how long a condition must not hold before its alert is resolved, and
// lookEvery how often the conditions are looked at, if alerts are raised after a time.
func resolvedAfter(raisedAfter time.Duration) time.Duration { return raisedAfter / 6 }

func lookEvery(raisedAfter time.Duration) time.Duration { return raisedAfter / 12 }

// A verdict says what becomes of alerts.
type verdict struct {
	seen    map[key]sighting // what is known from now on
	raise   []Condition
	resolve map[string]time.Time // ids of alerts, with when they ceased to hold
	renew   map[string]Condition // ids of open alerts to be stored again, with what is known now
}

// judge decides the fate of alerts, by the sightings so far and the conditions that hold now.
//
// Some conditions are about one server: its subject is host, empty if there is only one. Other
// servers can't judge them; they resolve the alerts of one that has gone.
func judge(
	before map[key]sighting, records []*sluice.AlertRecord, conditions []Condition,
	host string, after time.Duration, now time.Time,
) verdict {
	open, resolved := latest(records)
	v := verdict{
		seen: observe(before, resolved, conditions, now), resolve: map[string]time.Time{},
		renew: map[string]Condition{},
	}
	v.meet(open, host, now)
	for k, s := range v.seen {
		switch alert := open[k]; s.state(alert != nil, cmp.Or(s.after, after), now) {
		case firing:
			changed := s.message(alert.Since, now) != alert.Message
			if (changed || host != "" && ofServer(s.Kind)) && now.Sub(alert.Seen) >= seenEvery {
				v.renew[alert.ID] = s.Condition
			}
		case ceasing:
			if now.Sub(s.gone) >= resolvedAfter(after) {
				v.resolve[alert.ID] = s.gone
				delete(v.seen, k)
			}
		case due:
			v.raise = append(v.raise, s.Condition)
		case inactive:
			delete(v.seen, k)
		}
	}
	return v
}

// meet takes note of open alerts that this server has not seen the conditions of.
func (v *verdict) meet(open map[key]*sluice.AlertRecord, host string, now time.Time) {
	for k, a := range open {
		switch _, seen := v.seen[k]; {
		case ofServer(k.kind) && k.subject != host:
			if now.Sub(a.Seen) >= serverGone {
				v.resolve[a.ID] = now
			}
		case !seen:
			known := Condition{Kind: k.kind, Subject: k.subject, Since: a.Since}
			v.seen[k] = sighting{Condition: known, gone: now, foreign: true}
		}
	}
}

// observe returns the conditions that hold, and those that were seen before and do not hold any
// more. resolved is when alerts were last resolved.
func observe(
	before map[key]sighting, resolved map[key]time.Time, conditions []Condition, now time.Time,
) map[key]sighting {
	seen := map[key]sighting{}
	for _, c := range conditions {
		k := c.key()
		if c.Since.IsZero() || c.Since.After(now) {
			c.Since = now
			if s, known := before[k]; known {
				c.Since = s.Since
			}
		}
		// It may have been resolved since: by another server, or by a moment in which it did not hold.
		if c.Since.Before(resolved[k]) {
			c.Since = resolved[k]
		}
		seen[k] = sighting{Condition: c}
	}
	for k, s := range before {
		if _, holds := seen[k]; holds {
			continue
		}
		if s.holds() {
			s.gone = now
		}
		seen[k] = s
	}
	return seen
}

// latest returns the open alerts, and when others were last resolved.
func latest(records []*sluice.AlertRecord) (open map[key]*sluice.AlertRecord, resolved map[key]time.Time) {
	open, resolved = map[key]*sluice.AlertRecord{}, map[key]time.Time{}
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
