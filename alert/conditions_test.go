package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
)

// TestConditions: each fact has its condition, and a server that is well has none.
func TestConditions(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
	pipeline := func(p sluice.PipelineStats) Facts {
		p.Pipeline = "lead"
		return Facts{Stats: sluice.ServerStats{FreeDisk: -1, Pipelines: []sluice.PipelineStats{p}}}
	}
	paused := pipeline(sluice.PipelineStats{Unbegun: ago(time.Hour)})
	paused.Paused = map[string]bool{"lead": true}
	for name, test := range map[string]struct {
		facts Facts
		want  []string
	}{
		"well":           {pipeline(sluice.PipelineStats{Waiting: 3, Retrying: 3, Oldest: ago(time.Hour), Unbegun: ago(time.Minute)}), nil},
		"fails":          {pipeline(sluice.PipelineStats{Failing: ago(time.Second)}), []string{"pipeline-failing lead"}},
		"dead letters":   {pipeline(sluice.PipelineStats{DeadLetters: 1}), []string{"dead-letters lead"}},
		"a backlog":      {pipeline(sluice.PipelineStats{Unbegun: ago(61 * time.Second)}), []string{"backlog lead"}},
		"paused":         {paused, nil},
		"little space":   {Facts{Stats: sluice.ServerStats{FreeDisk: 199}, MinFreeDisk: 100}, []string{"disk "}},
		"enough space":   {Facts{Stats: sluice.ServerStats{FreeDisk: 200}, MinFreeDisk: 100}, nil},
		"quarantine":     {Facts{Stats: sluice.ServerStats{FreeDisk: -1}, Quarantined: []sluice.QuarantinedCall{{EventKey: "webhook.a"}, {EventKey: "webhook.a"}}}, []string{"quarantine webhook.a"}},
		"silence":        {Facts{Stats: sluice.ServerStats{FreeDisk: -1}, Silent: []Silence{{EventKey: "webhook.a"}}}, []string{"silence webhook.a"}},
		"what is of one": {Facts{Stats: sluice.ServerStats{FreeDisk: -1}, Host: "a", Certificate: []string{"it expires"}, Damage: []string{"lost"}, Unwell: []string{"away"}}, []string{"certificate a", "damage a", "engine a"}},
	} {
		var got []string
		for _, c := range test.facts.Conditions(now) {
			got = append(got, fmt.Sprint(c.Kind, " ", c.Subject))
			if !strings.HasPrefix(c.message(now, now), c.Kind.Words(c.Subject).Title) || c.Severity == "" {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestUsualPauses: what is learned of a shop whose calls come 20 times an hour on working
// days from 8 to 18.
func TestUsualPauses(t *testing.T) {
	monday := time.Date(2030, 1, 28, 0, 0, 0, 0, time.UTC) // after four weeks
	history := func(weeks int, calls func(time.Time) int) (hours []sluice.Minute) {
		for at := monday.Add(-time.Duration(weeks) * week); at.Before(monday.Add(week)); at = at.Add(time.Hour) {
			h := sluice.Minute{Time: at}
			if n := calls(at); n > 0 {
				figures := sluice.WebhookFigures{LastAccepted: at.Add(time.Hour - time.Minute)}
				figures.Accepted = n
				h.Webhooks = map[string]sluice.WebhookFigures{"webhook.shop": figures}
			}
			hours = append(hours, h)
		}
		return hours
	}
	shop := func(at time.Time) int {
		if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday || at.Hour() < 8 || at.Hour() >= 18 {
			return 0
		}
		return 20
	}
	for name, test := range map[string]struct {
		weeks int
		at    time.Duration // of the week
		calls func(time.Time) int
		want  time.Duration
	}{
		"in the middle of a day": {4, 36*time.Hour + 30*time.Minute, shop, leastPause},
		"when a day begins":      {4, 32 * time.Hour, shop, 2 * (14*time.Hour + 4*time.Minute)},
		"at night":               {4, 3 * time.Hour, shop, 2 * (58*time.Hour + time.Minute)},
		"too early":              {1, 24 * time.Hour, shop, 0},
		"two weeks":              {2, 36 * time.Hour, shop, leastPause},
		"never":                  {4, 36 * time.Hour, func(time.Time) int { return 0 }, 0},
		"once an hour":           {4, 36 * time.Hour, func(time.Time) int { return 1 }, 2*time.Hour + 2*time.Minute},
	} {
		if got := usualPause(history(test.weeks, test.calls), "webhook.shop", monday.Add(test.at)); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestSilence: by what a webhook says, from its last call on, or from when it was told.
func TestSilence(t *testing.T) {
	now := time.Date(2030, 1, 28, 12, 30, 0, 0, time.UTC)
	hook := func(key string, every time.Duration) *sluice.Webhook {
		return &sluice.Webhook{EventKey: key, Settings: sluice.Settings[time.Duration]{ExpectEvery: every}, Updated: now.Add(-20 * time.Minute)}
	}
	off := hook("webhook.off", time.Minute)
	off.Disabled = true
	l := &Listener{
		Webhooks: func() []*sluice.Webhook {
			return []*sluice.Webhook{hook("webhook.loud", 30*time.Minute), hook("webhook.quiet", 10*time.Minute), hook("webhook.new", 25*time.Minute), hook("webhook.never", 15*time.Minute), hook("webhook.young", sluice.ExpectAuto), off}
		},
		Hours: func(int) []sluice.Minute {
			return []sluice.Minute{{Time: now.Truncate(time.Hour), Webhooks: map[string]sluice.WebhookFigures{
				"webhook.loud": {LastAccepted: now.Add(-29 * time.Minute)}, "webhook.quiet": {LastAccepted: now.Add(-11 * time.Minute)}, "webhook.young": {LastAccepted: now.Add(-time.Hour)},
			}}}
		},
	}
	want := []Silence{
		{"webhook.quiet", now.Add(-11 * time.Minute), now.Add(-time.Minute)},
		{"webhook.never", time.Time{}, now.Add(-5 * time.Minute)},
	}
	if got := l.Silent(now); !slices.Equal(got, want) {
		t.Errorf("silent are %+v, want %+v", got, want)
	}
}
