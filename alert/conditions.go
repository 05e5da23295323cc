package alert

import (
	"fmt"
	"strings"
	"time"

	"sluice"
	"sluice/wording"
)

const (
	begunWithin = time.Minute     // an event that waits longer is a backlog
	countedLast = 5 * time.Minute // calls in the quarantine, and failed runs, count for so long
)

// Facts are what a server knows of itself, and of what it works for.
type Facts struct {
	Stats       sluice.ServerStats
	Paused      map[string]bool // pipelines
	Quarantined []sluice.QuarantinedCall
	Silent      []Silence
	Asked       []*sluice.MissedRun // what senders last said of their webhooks
	MinFreeDisk int64
	Host        string // the subject of what is about this server
	Certificate []string
	Damage      []string
	Unwell      []string
}

// QuarantinedSince is from when on calls in the quarantine count.
func QuarantinedSince(now time.Time) time.Time { return now.Add(-countedLast) }

// Conditions returns the conditions that hold.
func (f *Facts) Conditions(now time.Time) (all []Condition) {
	for _, p := range f.Stats.Pipelines {
		all = append(all, f.ofPipeline(p, now)...)
	}
	for _, q := range f.Stats.Work {
		if q.Late {
			c := warning(sluice.AlertBacklog, q.Pipeline, fmt.Sprintf("nobody has done the work in the "+
				"queue %s that came at %s, and more than half of its time is over", q.Queue, clock(*q.Oldest, now)))
			c.amount = q.Waiting + q.Taken
			c.Many = wording.Plural(c.amount, "item waits", "items wait")
			all = append(all, c)
		}
	}
	for _, s := range f.Silent {
		all = append(all, s.condition())
	}
	for _, run := range f.Asked {
		if run.IsBroken() {
			all = append(all, warning(sluice.AlertSubscription, run.EventKey, run.Message))
		}
	}
	quarantined := map[string][]sluice.QuarantinedCall{}
	for _, c := range f.Quarantined {
		quarantined[c.EventKey] = append(quarantined[c.EventKey], c)
	}
	for eventKey, calls := range quarantined {
		c := warning(sluice.AlertQuarantine, eventKey, refusal(calls[0]))
		c.amount = len(calls)
		c.Many = wording.Plural(c.amount, "call", "calls") + " in the last 5 minutes"
		all = append(all, c)
	}
	if free := f.Stats.FreeDisk; free >= 0 && free < 2*f.MinFreeDisk {
		all = append(all, warning(sluice.AlertDisk, f.Host, fmt.Sprintf("%d MiB are free on the volume "+
			"of the data folder; below %d MiB calls are refused", free>>20, f.MinFreeDisk>>20)))
	}
	for _, about := range []struct {
		kind     sluice.AlertKind
		severity string
		found    []string
	}{
		{sluice.AlertCertificate, sluice.SeverityWarning, f.Certificate},
		{sluice.AlertDamage, sluice.SeverityCritical, f.Damage},
		{sluice.AlertEngine, sluice.SeverityCritical, f.Unwell},
	} {
		if len(about.found) > 0 {
			all = append(all, Condition{
				Kind: about.kind, Subject: f.Host, Severity: about.severity, Cause: strings.Join(about.found, "; "),
			})
		}
	}
	return all
}

// refusal says why a call is in the quarantine.
func refusal(c sluice.QuarantinedCall) string {
	if len(c.Diagnosis) == 0 {
		return c.Code
	}
	return c.Code + ": " + c.Diagnosis[0]
}

func (f *Facts) ofPipeline(p sluice.PipelineStats, now time.Time) (all []Condition) {
	waiting := ""
	if p.Waiting > 0 {
		waiting = wording.Plural(p.Waiting, "event waits", "events wait")
	}
	if p.Failing != nil {
		c := warning(sluice.AlertPipelineFailing, p.Pipeline, p.Cause)
		c.Many, c.Since = waiting, *p.Failing
		all = append(all, c)
	}
	if p.DeadLetters > 0 {
		c := warning(sluice.AlertDeadLetters, p.Pipeline, p.Cause)
		c.Many, c.amount = wording.Plural(p.DeadLetters, "dead letter", "dead letters"), int(p.DeadLetters)
		all = append(all, c)
	}
	if p.Unbegun != nil && now.Sub(*p.Unbegun) > begunWithin && !f.Paused[p.Pipeline] {
		cause := "the oldest event that was not begun came at " + clock(*p.Unbegun, now)
		if p.Failing != nil && p.Cause != "" {
			cause += "; the latest run failed: " + p.Cause
		}
		c := warning(sluice.AlertBacklog, p.Pipeline, cause)
		c.Many, c.amount = waiting, int(p.Waiting)
		all = append(all, c)
	}
	return all
}

// warning returns a condition that is no emergency.
func warning(kind sluice.AlertKind, subject, cause string) Condition {
	return Condition{Kind: kind, Subject: subject, Severity: sluice.SeverityWarning, Cause: cause}
}

const (
	week         = 7 * 24 * time.Hour
	learnedFrom  = 4        // weeks
	leastHistory = 2 * week // how long ago the first call was, for pauses to be learned
	leastPause   = 15 * time.Minute
	learnEvery   = time.Hour
	recentHours  = 2 // that are looked at in every step
)

// A Silence is a webhook that no call was accepted of for longer than usual.
type Silence struct {
	EventKey string
	Last     time.Time // the last accepted call; zero: none is known
	Since    time.Time // when the next one should have come
}

func (s Silence) condition() Condition {
	cause := "no call has been accepted yet"
	if !s.Last.IsZero() {
		cause = "the last call was accepted on " + s.Last.UTC().Format(dayAndClock) + ", longer ago than expected"
	}
	c := warning(sluice.AlertSilence, s.EventKey, cause)
	c.Since = s.Since
	return c
}

// A Listener finds the webhooks that nothing is heard of. It is not for concurrent use.
type Listener struct {
	// Webhooks returns the webhooks that expect calls.
	Webhooks func() []*sluice.Webhook

	// Hours returns the figures of the last hours in order, the current one included.
	Hours func(count int) []sluice.Minute

	learned time.Time // when history was last read
	history []sluice.Minute
	last    map[string]time.Time // accepted calls, by event key
}

// Silent returns the webhooks that have been silent for too long.
func (l *Listener) Silent(now time.Time) (silent []Silence) {
	webhooks := l.Webhooks()
	if len(webhooks) == 0 {
		return nil
	}
	if now.Sub(l.learned) >= learnEvery {
		l.learned, l.history = now, l.Hours(learnedFrom*int(week/time.Hour)+1)
		l.last = map[string]time.Time{}
		noteAccepted(l.last, l.history)
	}
	noteAccepted(l.last, l.Hours(recentHours))
	for _, w := range webhooks {
		last := l.last[w.EventKey]
		pause := w.ExpectEvery
		if w.ExpectEvery == sluice.ExpectAuto {
			if pause = usualPause(l.history, w.EventKey, now); pause == 0 {
				continue
			}
		}
		from := last
		if from.IsZero() {
			from = w.Updated
		}
		if since := from.Add(pause); !w.Disabled && now.After(since) {
			silent = append(silent, Silence{w.EventKey, last, since})
		}
	}
	return silent
}

// noteAccepted notes the last accepted calls of some hours, by event key.
func noteAccepted(last map[string]time.Time, hours []sluice.Minute) {
	for _, hour := range hours {
		for key, figures := range hour.Webhooks {
			if at := acceptedIn(hour, figures); at.After(last[key]) {
				last[key] = at
			}
		}
	}
}

// acceptedIn returns when the last call of an hour was accepted, zero if none was. Earlier
// versions have not stored it.
func acceptedIn(hour sluice.Minute, figures sluice.WebhookFigures) time.Time {
	if figures.LastAccepted.IsZero() && figures.Accepted > 0 {
		return hour.Time.Add(time.Hour)
	}
	return figures.LastAccepted
}

// usualPause returns how long a webhook may be silent at this hour of the week: twice the
// longest pause that ended in it or lasted beyond it in the last four weeks. It returns 0 if
// calls have not come for two weeks.
func usualPause(hours []sluice.Minute, eventKey string, now time.Time) time.Duration {
	hour := now.UTC().Truncate(time.Hour)
	var first, last time.Time // calls before the hour that is looked at
	longest := time.Duration(0)
	for _, h := range hours {
		if !h.Time.Before(hour) {
			break
		}
		figures := h.Webhooks[eventKey]
		if at := hour.Sub(h.Time); at%week == 0 && !last.IsZero() {
			longest = max(longest, pauseIn(h, figures.Accepted, last))
		}
		if at := acceptedIn(h, figures); !at.IsZero() {
			if first.IsZero() {
				first = at
			}
			last = at
		}
	}
	if first.IsZero() || now.Sub(first) < leastHistory {
		return 0
	}
	return max(leastPause, 2*longest)
}

// pauseIn returns the longest pause that ended in an hour or lasted beyond it. The calls of
// an hour are taken to be evenly spread.
func pauseIn(h sluice.Minute, calls int, last time.Time) time.Duration {
	if calls == 0 {
		return h.Time.Add(time.Hour).Sub(last)
	}
	between := time.Hour / time.Duration(calls)
	return max(between, h.Time.Add(between).Sub(last))
}
