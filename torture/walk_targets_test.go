package main

import (
	"testing"

	"sluice"
)

// TestWhatArrivedIsChecked: the check of a walk finds what is missing, and what came under two ids.
func TestWhatArrivedIsChecked(t *testing.T) {
	for name, test := range map[string]struct {
		arrived map[string]int // ids
		status  sluice.Status
		found   int
	}{
		"as it must be":      {map[string]int{"c-1": 2}, sluice.StatusOK, 0},
		"missing":            {nil, sluice.StatusOK, 1},
		"failed for good":    {nil, sluice.StatusError, 0},
		"under another id":   {map[string]int{"c-2": 1}, sluice.StatusRecovered, 1},
		"under a second one": {map[string]int{"c-1": 1, "c-2": 1}, sluice.StatusOK, 1},
	} {
		w := &walk{book: newBook()}
		w.calls = []*walkCall{
			{kind: "inserted", mark: "m", traceID: "t", correlationID: "c-1"}, {kind: "inserted", mark: "n", erased: true},
		}
		w.checkArrived("inserted", map[string]map[string]int{"m": test.arrived},
			map[string][]sluice.Call{"t": {{Status: test.status}}})
		if len(w.found) != test.found {
			t.Errorf("%s: %q", name, w.found)
		}
	}
}
