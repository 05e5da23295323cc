package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"sluice"
)

func TestCheckResultKnowsThePipelinesValue(t *testing.T) {
	own := fmt.Sprintf(`{"length":%d}`, bodySize)
	for _, c := range []struct {
		name     string
		status   sluice.Status
		value    string
		listened bool
		want     bool
	}{
		{"its value", sluice.StatusOK, own, true, true},
		{"no pipeline ran", sluice.StatusOK, `{"status":"OK","traceId":"t"}`, true, false},
		{"not ready", sluice.StatusProcessing, `null`, true, false},
		{"failed", sluice.StatusError, `null`, true, false},
		{"another value", sluice.StatusOK, `{"length":1}`, true, false},
		{"none listens", sluice.StatusOK, `{"status":"OK","traceId":"t"}`, false, true},
		{"one listens that should not", sluice.StatusOK, own, false, false},
	} {
		err := checkResult(sluice.Result{Status: c.status, Value: json.RawMessage(c.value)}, c.listened)
		if (err == nil) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPercentile(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[len(values)-1-i] = float64(i)
	}
	for of, want := range map[int]float64{50: 100, 99: 198, 100: 199} {
		if got := percentile(values, of); got != want {
			t.Errorf("percentile %d is %v, want %v", of, got, want)
		}
	}
}
