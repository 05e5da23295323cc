package alert

import (
	"os"
	"strings"
	"testing"
	"time"

	"sluice"
)

// TestMessages: what is wrong, why, how many, and since when; and that it is over.
func TestMessages(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
	since := now.Add(-46 * time.Minute)
	stats := sluice.PipelineStats{
		Pipeline: "warehouse", Failing: &since, Waiting: 1500, Cause: "http-status 503 from warehouse.example.com", DeadLetters: 1, Unbegun: &since,
	}
	facts := Facts{
		Stats: sluice.ServerStats{FreeDisk: 3 << 20, Pipelines: []sluice.PipelineStats{stats}}, MinFreeDisk: 2 << 20, Host: "node-1",
		Quarantined: []sluice.QuarantinedCall{{EventKey: "webhook.a", Code: "signature-invalid", Diagnosis: []string{"The secret differs.", "More."}}, {EventKey: "webhook.a"}},
		Silent:      []Silence{{EventKey: "webhook.b", Last: now.Add(-25 * time.Hour), Since: since}},
		Damage:      []string{"3 events are lost"},
		Asked:       []*sluice.MissedRun{{EventKey: "webhook.c", State: "gone", Message: "GitHub has no such webhook any more."}, {State: "active"}, {State: "unknown"}, {}},
	}
	want := map[sluice.AlertKind][2]string{
		sluice.AlertPipelineFailing: {
			"warehouse fails: http-status 503 from warehouse.example.com; 1,500 events wait, since 02:14 UTC.",
			"warehouse no longer fails. It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: http-status 503 from warehouse.example.com.",
		},
		sluice.AlertDeadLetters: {
			"warehouse has dead letters: http-status 503 from warehouse.example.com; 1 dead letter, since 02:14 UTC.",
			"warehouse has no dead letters any more. It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: http-status 503 from warehouse.example.com.",
		},
		sluice.AlertBacklog: {
			"warehouse is behind: the oldest event that was not begun came at 02:14 UTC; the latest run failed: http-status 503 from warehouse.example.com; 1,500 events wait, since 02:14 UTC.",
			"warehouse has caught up. It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: the oldest event that was not begun came at 02:14 UTC; the latest run failed: http-status 503 from warehouse.example.com.",
		},
		sluice.AlertQuarantine: {
			"Calls of webhook.a are refused: signature-invalid: The secret differs; 2 calls in the last 5 minutes, since 02:14 UTC.",
			"No calls of webhook.a are refused any more. It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: signature-invalid: The secret differs.",
		},
		sluice.AlertSilence: {
			"webhook.b is silent: the last call was accepted on 1 January, 02:00 UTC, longer ago than expected, since 02:14 UTC.",
			"webhook.b is no longer silent. It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: the last call was accepted on 1 January, 02:00 UTC, longer ago than expected.",
		},
		sluice.AlertSubscription: {
			"The sender of webhook.c calls it no longer: GitHub has no such webhook any more, since 02:14 UTC.",
			"The sender of webhook.c calls it again. It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: GitHub has no such webhook any more.",
		},
		sluice.AlertDisk: {
			"Little disk space is left (node-1): 3 MiB are free on the volume of the data folder; below 2 MiB calls are refused, since 02:14 UTC.",
			"There is enough disk space again (node-1). It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: 3 MiB are free on the volume of the data folder; below 2 MiB calls are refused.",
		},
		sluice.AlertDamage: {
			"Stored data is damaged (node-1): 3 events are lost, since 02:14 UTC.",
			"No damage is known any more (node-1). It is over after 46m, from 02:14 UTC to 03:00 UTC. It was: 3 events are lost.",
		},
		sluice.AlertClosed: {"No calls were taken for 2s.", "Calls are taken again."},
	}
	conditions := append(facts.Conditions(now), warning(sluice.AlertClosed, "", "No calls were taken for 2s."))
	for _, c := range conditions {
		over := allClear(sluice.Alert{Kind: c.Kind, Title: c.Kind.Words(c.Subject).Over, Cause: c.Cause, Since: since, Until: now}, now)
		if got := [2]string{c.message(since, now), over}; got != want[c.Kind] {
			t.Errorf("%s:\n%q, want\n%q", c.Kind, got, want[c.Kind])
		}
		delete(want, c.Kind)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
	if got := clock(now.Add(-24*time.Hour), now); got != "1 January, 03:00 UTC" {
		t.Errorf("a day ago is %s", got)
	}
}

// TestAdvice: docs/alerts.md and sluice doctor give the same advice for every kind.
func TestAdvice(t *testing.T) {
	page, err := os.ReadFile("../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range sluice.AlertKind("").Enum() {
		words := sluice.AlertKind(kind).Words("NAME")
		all := words.DoBy(func(string) bool { return true })
		row := "| `" + kind + "` | " + all + " |"
		if all == "" || words.Title == "" || words.Over == "" || words.Page == "" || !strings.Contains(string(page), row) {
			t.Errorf("docs/alerts.md has no row %s", row)
		}
	}
}
