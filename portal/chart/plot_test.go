package chart

import (
	"strings"
	"testing"

	"sluice"
)

func TestPlotsOfNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []*Plot{Calls(make([]sluice.Minute, 60), Spans[1]), Latency(make([]sluice.Minute, 1440), Spans[1])} {
		if p.Empty == "" || len(p.Bars) != 0 {
			t.Errorf("%s shows something", p.Title)
		}
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	minutes := make([]sluice.Minute, 60)
	minutes[10] = sluice.Minute{CallFigures: sluice.CallFigures{Accepted: 9, OK: 6, Recovered: 1, Retrying: 1, Error: 1, Rejected: 2}, P50: 1.5, P99: 12}
	calls, latency := Calls(minutes, Spans[1]), Latency(minutes, Spans[1])
	if len(calls.Bars) != 4 || calls.Empty != "" {
		t.Errorf("the bars are %v", calls.Bars)
	}
	if top := calls.Y[len(calls.Y)-1].Label; top != "12" && top != "15" {
		t.Errorf("the axis ends at %s", top)
	}
	if len(latency.Lines[0].Dots) != 1 || latency.Lines[0].Path != "" {
		t.Errorf("a single point is %+v", latency.Lines[0])
	}
	minutes[11] = minutes[10]
	if line := Latency(minutes, Spans[1]).Lines[0]; len(line.Dots) != 0 || !strings.HasPrefix(line.Path, "M") || strings.Count(line.Path, "L") != 1 {
		t.Errorf("two points are %+v", line)
	}
}
