package sluice_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10/s": 100 * time.Millisecond, "100000/s": 10 * time.Microsecond, "1/s": time.Second, "30/m": 2 * time.Second, "1/h": time.Hour,
		"": 0, "0/s": 0, "100001/h": 0, "10": 0, "10/d": 0, "x/s": 0, "-1/s": 0, "1/s/s": 0,
	} {
		if got, ok := sluice.ParseRate(text); got != want || ok != (want > 0) {
			t.Errorf("%q: %s, %v", text, got, ok)
		}
	}
	if rule := sluice.RateRule; !strings.Contains(rule, fmt.Sprint(sluice.MaxRate)) {
		t.Error("the rule in words has another bound")
	}
}
