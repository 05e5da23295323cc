package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
)

// TestJudge goes through the life of alerts second by second. A step has the second, the
// conditions that hold then, and the expected changes: + raised, - resolved, ~ renewed.
func TestJudge(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	failing := Condition{Kind: sluice.AlertPipelineFailing, Subject: "lead", Cause: "It fails."}
	since := func(second int) Condition {
		c := failing
		c.Since = start.Add(time.Duration(second) * time.Second)
		return c
	}
	disk := func(host string) Condition {
		return Condition{Kind: sluice.AlertDisk, Subject: host, Cause: "It is full."}
	}
	worse := failing
	worse.Many = "500 events wait"
	type step struct {
		second int
		holds  []Condition
		want   string
	}
	none, holds := []Condition(nil), []Condition{failing}
	for name, test := range map[string]struct {
		host    string
		records []*sluice.AlertRecord
		steps   []step
	}{
		"raised after a minute, once":   {steps: []step{{0, holds, ""}, {59, holds, ""}, {60, holds, "+pipeline-failing"}, {65, holds, ""}, {900, holds, ""}}},
		"not for less than a minute":    {steps: []step{{0, holds, ""}, {55, holds, ""}, {58, none, ""}, {61, none, ""}, {70, holds, ""}, {129, holds, ""}, {130, holds, "+pipeline-failing"}}},
		"at once what began before":     {steps: []step{{70, []Condition{since(0)}, "+pipeline-failing"}}},
		"each time the minute anew":     {steps: []step{{0, []Condition{since(0)}, ""}, {30, []Condition{since(28)}, ""}, {70, []Condition{since(69)}, ""}, {130, []Condition{since(69)}, "+pipeline-failing"}}},
		"resolved within 30 seconds":    {steps: []step{{0, holds, ""}, {60, holds, "+pipeline-failing"}, {65, none, ""}, {70, none, ""}, {75, none, "-pipeline-failing"}, {80, none, ""}}},
		"not for a moment":              {steps: []step{{0, holds, ""}, {60, holds, "+pipeline-failing"}, {65, none, ""}, {70, holds, ""}, {75, none, ""}, {80, holds, ""}}},
		"again after another minute":    {steps: []step{{0, holds, ""}, {60, holds, "+pipeline-failing"}, {65, none, ""}, {75, none, "-pipeline-failing"}, {76, holds, ""}, {136, holds, "+pipeline-failing"}}},
		"told of what could not be":     {steps: []step{{0, holds, ""}, {61, none, "+pipeline-failing"}, {66, none, ""}, {71, none, "-pipeline-failing"}}},
		"open since before the start":   {records: []*sluice.AlertRecord{record(failing, start)}, steps: []step{{600, holds, ""}, {605, none, ""}, {615, none, "-pipeline-failing"}}},
		"over since before the start":   {records: []*sluice.AlertRecord{record(failing, start)}, steps: []step{{600, none, ""}, {610, none, "-pipeline-failing"}}},
		"a server among several":        {host: "a", steps: []step{{0, []Condition{disk("a")}, ""}, {60, []Condition{disk("a")}, "+disk"}, {90, []Condition{disk("a")}, ""}, {120, []Condition{disk("a")}, "~disk"}}},
		"another server":                {host: "a", records: []*sluice.AlertRecord{record(disk("b"), start)}, steps: []step{{60, none, ""}, {179, none, ""}, {180, none, "-disk"}}},
		"two servers that are well":     {host: "a", records: []*sluice.AlertRecord{record(failing, start)}, steps: []step{{60, none, ""}, {70, none, "-pipeline-failing"}}},
		"what another server resolved":  {records: []*sluice.AlertRecord{resolved(record(failing, start), start.Add(100*time.Second))}, steps: []step{{101, []Condition{since(0)}, ""}, {159, []Condition{since(0)}, ""}, {160, []Condition{since(0)}, "+pipeline-failing"}}},
		"renewed with its news":         {steps: []step{{0, holds, ""}, {60, holds, "+pipeline-failing"}, {90, []Condition{worse}, ""}, {120, []Condition{worse}, "~pipeline-failing"}, {190, []Condition{worse}, ""}}},
		"several, each by itself":       {steps: []step{{0, []Condition{failing, disk("")}, ""}, {60, []Condition{failing, disk("")}, "+disk +pipeline-failing"}, {65, []Condition{failing}, ""}, {75, []Condition{failing}, "-disk"}}},
		"an alert that was just raised": {records: []*sluice.AlertRecord{record(Condition{Kind: sluice.AlertClosed, Cause: "It was closed."}, start)}, steps: []step{{0, none, ""}, {10, none, "-closed"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen map[key]sighting
			records := test.records
			for _, at := range test.steps {
				now := start.Add(time.Duration(at.second) * time.Second)
				v := judge(seen, records, at.holds, test.host, time.Minute, now)
				seen = v.seen
				var got []string
				for _, c := range v.raise {
					got = append(got, "+"+string(c.Kind))
					records = append(records, record(c, now))
				}
				for _, r := range records {
					if until, ok := v.resolve[r.ID]; ok {
						got = append(got, "-"+string(r.Kind))
						r.Until = until
					}
					if c, ok := v.renew[r.ID]; ok {
						got = append(got, "~"+string(r.Kind))
						r.Seen, r.Message = now, c.message(r.Since, now)
					}
				}
				if slices.Sort(got); strings.Join(got, " ") != at.want {
					t.Errorf("second %d: %v, want %q", at.second, got, at.want)
				}
			}
		})
	}
}

// record returns the open alert of a condition.
func record(c Condition, now time.Time) *sluice.AlertRecord {
	return &sluice.AlertRecord{Seen: now, Alert: sluice.Alert{ID: fmt.Sprint(c.Kind, c.Subject, now.Unix()), Kind: c.Kind, Subject: c.Subject, Since: now, Message: c.message(now, now)}}
}

func resolved(r *sluice.AlertRecord, until time.Time) *sluice.AlertRecord {
	r.Until = until
	return r
}
