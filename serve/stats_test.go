package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// figures is what server.stats answers.
type figures struct {
	Ready       bool   `json:"ready"`
	Engine      string `json:"engine"`
	FreeDisk    int64  `json:"freeDisk"`
	Events      int    `json:"events"`
	DeadLetters int    `json:"deadLetters"`
	Webhooks    int    `json:"webhooks"`
	Pipelines   []struct {
		Pipeline    string `json:"pipeline"`
		Waiting     int    `json:"waiting"`
		DeadLetters int    `json:"deadLetters"`
	} `json:"pipelines"`
	Minutes []struct {
		Accepted, Refused, Failed, Runs, RunErrors int
		P50, P99                                   float64
	} `json:"minutes"`
}

// sum adds up the counts of all minutes: calls may be on either side of a
// minute's end.
func (f figures) sum() (accepted, refused, runs, failed int, slowest float64) {
	for _, m := range f.Minutes {
		accepted += m.Accepted
		refused += m.Refused
		runs += m.Runs
		failed += m.RunErrors
		slowest = max(slowest, m.P99)
	}
	return accepted, refused, runs, failed, slowest
}

// TestStats: calls and runs are counted minute by minute, also over a restart.
func TestStats(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.counted", "payloadType", "raw")
	s.send("PUT", "/api/v3/pipeline/picky", strings.NewReader("pipeline:\n  - event.listen: {eventKey: webhook.counted}\n  - assert: {\"true\": \"#{body.payload == 'good'}\"}\n"), asAdmin).wantStatus(t, http.StatusOK)
	for _, body := range []string{"good", "good", "bad"} {
		s.call(h, "text/plain", body).wantStatus(t, http.StatusOK)
	}
	s.call(hook{UUID: unknownToken}, "text/plain", "x").wantStatus(t, http.StatusUnauthorized)
	stats := func(minutes int) (f figures) {
		s.command("server.stats", map[string]any{"minutes": minutes}).wantStatus(t, http.StatusOK).into(t, &f)
		return f
	}
	check := func(when string) {
		t.Helper()
		eventually(t, "the counts "+when, func() bool {
			f := stats(5)
			accepted, refused, runs, failed, _ := f.sum()
			return accepted == 3 && refused == 1 && runs == 3 && failed == 1 && len(f.Pipelines) == 1 && f.Pipelines[0].Waiting == 0
		})
		f := stats(1440)
		if _, _, _, _, slowest := f.sum(); len(f.Minutes) != 1440 || slowest <= 0 {
			t.Errorf("%s: %d minutes, the slowest call took %v ms", when, len(f.Minutes), slowest)
		}
		if !f.Ready || f.Engine != "embedded" || f.FreeDisk <= 0 || f.Events != 3 || f.Webhooks != 1 || f.DeadLetters != 1 {
			t.Errorf("%s: the state is %+v", when, f)
		}
		if len(f.Pipelines) != 1 || f.Pipelines[0].Pipeline != "picky" || f.Pipelines[0].DeadLetters != 1 {
			t.Errorf("%s: the pipelines are %+v", when, f.Pipelines)
		}
	}
	check("before the restart")
	s.stop()
	s.resume()
	check("after the restart")
	s.command("server.stats", map[string]any{"minutes": 0}).wantProblem(t, http.StatusBadRequest, "parameter-invalid")
}
