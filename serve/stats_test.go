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

// TestWebhookStats: the calls of each webhook are counted, and one that a pipeline
// failed on is a failed call, however many attempts there were.
func TestWebhookStats(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h, quiet := s.create("webhook.counted", "payloadType", "raw"), s.create("webhook.other")
	s.send("PUT", "/api/v3/pipeline/picky", strings.NewReader("retry: {times: 2, backoff: 10ms}\npipeline:\n  - event.listen: {eventKey: webhook.counted}\n  - if: {\"true\": \"#{body.payload != 'good'}\", then: [fail: {message: no, statusCode: 503}]}\n"), asAdmin).wantStatus(t, http.StatusOK)
	for _, body := range []string{"good", "bad", "good"} {
		s.call(h, "text/plain", body).wantStatus(t, http.StatusOK)
	}
	s.call(quiet, "text/plain", "x").wantStatus(t, http.StatusOK)
	type webhook struct {
		EventKey                  string
		Accepted, Refused, Errors int
		Hours                     []int
	}
	read := func(params map[string]any) (found []webhook) {
		s.command("webhook.stats", params).wantStatus(t, http.StatusOK).into(t, &found)
		return found
	}
	check := func() {
		t.Helper()
		eventually(t, "the counts", func() bool {
			found := read(nil)
			return len(found) == 2 && found[0].EventKey == "webhook.counted" && found[0].Accepted == 3 && found[0].Errors == 1 && len(found[0].Hours) == 24 && found[1].Accepted == 1
		})
		if found := read(map[string]any{"eventKey": "webhook.other", "hours": 48}); len(found) != 1 || len(found[0].Hours) != 48 {
			t.Errorf("of one webhook they are %+v", found)
		}
	}
	check()
	s.stop()
	s.resume()
	check()
	var f struct {
		Minutes, Hours []struct{ Accepted, Errors, Runs, RunErrors int }
	}
	s.command("server.stats", map[string]any{"minutes": 5, "hours": 720}).wantStatus(t, http.StatusOK).into(t, &f)
	sum := 0
	for _, hour := range f.Hours {
		sum += hour.Errors
	}
	if len(f.Hours) != 720 || sum != 1 {
		t.Errorf("%d hours have %d failed calls", len(f.Hours), sum)
	}
}
