package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var figures table
	if got := figures.markdown("m", "g"); got != "" {
		t.Errorf("an empty table prints %q", got)
	}
	figures.add("rate", "1,000 calls/s")
	figures.hold("ratio", "0.60", 0.60, atLeast(0.50, "0.50"))
	figures.hold("cost", "1.20", 1.20, atMost(1.10, "1.10"))
	figures.hold("time", "300 ms", 300, under(300, "300 ms"))
	got := figures.markdown("a machine", "wrk")
	for _, want := range []string{
		"a machine", "wrk",
		"| rate | 1,000 calls/s | – | – |\n",
		"| ratio | 0.60 | at least 0.50 | yes |\n",
		"| cost | 1.20 | at most 1.10 | no |\n",
		"| time | 300 ms | under 300 ms | no |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.8: "1,234,568", -123456: "-123,456"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%v) = %s, want %s", n, got, want)
		}
	}
}

func TestMedianOfRatios(t *testing.T) {
	of := &contender{rounds: []measurement{{Requests: 10, Seconds: 1}, {Requests: 40, Seconds: 2}, {Requests: 30, Seconds: 1}}}
	to := &contender{rounds: []measurement{{Requests: 10, Seconds: 1}, {Requests: 10, Seconds: 1}, {Requests: 10, Seconds: 1}}}
	if middle, least, most := (ratio{of: of, to: to}).measured(); middle != 2 || least != 1 || most != 3 {
		t.Errorf("got %v, %v to %v", middle, least, most)
	}
	if got := median([]float64{4, 1}); got != 2.5 {
		t.Errorf("median of two is %v", got)
	}
}

func TestChoose(t *testing.T) {
	if chosen, err := choose(""); err != nil || len(chosen) != len(parts) {
		t.Errorf("nothing chosen gives %d parts, %v", len(chosen), err)
	}
	if chosen, err := choose("start,rate"); err != nil || len(chosen) != 2 || chosen[0].name != "start" {
		t.Errorf("got %v, %v", chosen, err)
	}
	if _, err := choose("start,speed"); err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("an unknown part gives %v", err)
	}
}
