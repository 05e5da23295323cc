package alert

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice"
)

const (
	begunWithin     = time.Minute     // an event that waits longer is a backlog
	quarantinedLast = 5 * time.Minute // calls in the quarantine count for so long
)

// Facts are what a server knows of itself, and of what it works for.
type Facts struct {
	Stats       sluice.ServerStats
	Paused      map[string]bool // pipelines
	Quarantined []sluice.QuarantinedCall
	Silent      []Silence
	MinFreeDisk int64
	Host        string // the subject of what is about this server
	Certificate []string
	Damage      []string
	Unwell      []string
}

// QuarantinedSince is from when on calls in the quarantine count.
func QuarantinedSince(now time.Time) time.Time { return now.Add(-quarantinedLast) }

// Conditions returns the conditions that hold.
func (f *Facts) Conditions(now time.Time) (all []Condition) {
	for _, p := range f.Stats.Pipelines {
		all = append(all, f.ofPipeline(p, now)...)
	}
	for _, s := range f.Silent {
		all = append(all, s.condition())
	}
	quarantined := make(map[string]int)
	for _, c := range f.Quarantined {
		quarantined[c.EventKey]++
	}
	for eventKey, count := range quarantined {
		all = append(all, Condition{
			Kind: sluice.AlertQuarantine, Subject: eventKey, Severity: sluice.SeverityWarning,
			Message: fmt.Sprintf("%s of %s in the last 5 minutes; quarantine.get shows why.", number(count, "call was quarantined", "calls were quarantined"), eventKey),
		})
	}
	if free := f.Stats.FreeDisk; free >= 0 && free < 2*f.MinFreeDisk {
		all = append(all, Condition{
			Kind: sluice.AlertDisk, Subject: f.Host, Severity: sluice.SeverityWarning,
			Message: fmt.Sprintf("%d MiB are free on the volume of the data folder; below %d MiB calls are refused. Add space, or keep fewer events.", free>>20, f.MinFreeDisk>>20),
		})
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
			all = append(all, Condition{Kind: about.kind, Subject: f.Host, Severity: about.severity, Message: strings.Join(about.found, "; ")})
		}
	}
	return all
}

func (f *Facts) ofPipeline(p sluice.PipelineStats, now time.Time) (all []Condition) {
	warn := func(kind sluice.AlertKind, since time.Time, message string) {
		all = append(all, Condition{Kind: kind, Subject: p.Pipeline, Severity: sluice.SeverityWarning, Message: message, Since: since})
	}
	if p.Failing != nil {
		warn(sluice.AlertPipelineFailing, *p.Failing, fmt.Sprintf("The latest run of the pipeline %s failed; trace.get shows why.", p.Pipeline))
	}
	if p.DeadLetters > 0 {
		warn(sluice.AlertDeadLetters, time.Time{}, fmt.Sprintf("The pipeline %s has %s; deadletter.get lists them.", p.Pipeline, number(int(p.DeadLetters), "dead letter", "dead letters")))
	}
	if p.Unbegun != nil && now.Sub(*p.Unbegun) > begunWithin && !f.Paused[p.Pipeline] {
		warn(sluice.AlertBacklog, time.Time{}, fmt.Sprintf("%s for the pipeline %s; the oldest that was not begun has waited for %s. See whether its runs hang, and raise its concurrency.",
			number(int(p.Waiting), "event waits", "events wait"), p.Pipeline, now.Sub(*p.Unbegun).Round(time.Second)))
	}
	return all
}

func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
