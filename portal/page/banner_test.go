package page

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

func TestAlertsOf(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := since.Add(time.Hour)
	for name, test := range map[string]struct {
		stats sluice.ServerStats
		want  []Alert
	}{
		"all is well": {sluice.ServerStats{Ready: true}, nil},
		"not ready":   {sluice.ServerStats{Problem: "The disk is full."}, []Alert{{Bad: true, Text: "Calls can’t be accepted at the moment: The disk is full."}}},
		"a damaged disk and a certificate": {
			sluice.ServerStats{Ready: true, Warnings: []string{"the disk has lost 3 events", "the certificate expires"}},
			[]Alert{{Text: "The disk has lost 3 events."}, {Text: "The certificate expires."}},
		},
		"many warnings": {
			sluice.ServerStats{Ready: true, Warnings: []string{"a", "b", "c", "d", "e"}},
			[]Alert{{Text: "A."}, {Text: "B."}, {Text: "C."}},
		},
		"a failing pipeline": {
			sluice.ServerStats{Ready: true, Pipelines: []sluice.PipelineStats{{Pipeline: "good"}, {Pipeline: "orders", Failing: &since}}},
			[]Alert{{Bad: true, Text: "The pipeline orders has been failing", Since: &since, Link: "/pipelines/orders#failure"}},
		},
		"failing pipelines, the newest first": {
			sluice.ServerStats{Ready: true, Warnings: []string{"a"}, Pipelines: []sluice.PipelineStats{{Pipeline: "a", Failing: &since}, {Pipeline: "c", Failing: &since}, {Pipeline: "b", Failing: &later}, {Pipeline: "d", Failing: &since}}},
			[]Alert{{Bad: true, Text: "4 pipelines are failing: b, a, c, …", Link: "/pipelines"}, {Text: "A."}},
		},
		"a target that is back": {
			sluice.ServerStats{Ready: true, Pipelines: []sluice.PipelineStats{{Pipeline: "orders", Retrying: 2}, {Pipeline: "bills", Retrying: 1}}},
			[]Alert{{Text: "3 events wait for another attempt.", Link: "/calls?status=retrying&sent=yes"}},
		},
	} {
		if diff := cmp.Diff(test.want, alertsOf(test.stats)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
