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
		Accepted, Rejected, Runs, RunErrors int
		P50, P99                            float64
	} `json:"minutes"`
}

// sum adds up the counts of all minutes: calls may be on either side of a
// minute's end.
func (f figures) sum() (accepted, refused, runs, failed int, slowest float64) {
	for _, m := range f.Minutes {
		accepted += m.Accepted
		refused += m.Rejected
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
	check := func(when string, events int) {
		t.Helper()
		eventually(t, "the counts "+when, func() bool {
			f := stats(5)
			accepted, refused, runs, failed, _ := f.sum()
			return f.Events == events && accepted == 3 && refused == 1 && runs == 3 && failed == 1 && len(f.Pipelines) == 1 && f.Pipelines[0].Waiting == 0
		})
		f := stats(1440)
		if _, _, _, _, slowest := f.sum(); len(f.Minutes) != 1440 || slowest <= 0 {
			t.Errorf("%s: %d minutes, the slowest call took %v ms", when, len(f.Minutes), slowest)
		}
		if !f.Ready || f.Engine != "embedded" || f.FreeDisk <= 0 || f.Webhooks != 1 || f.DeadLetters != 1 {
			t.Errorf("%s: the state is %+v", when, f)
		}
		if len(f.Pipelines) != 1 || f.Pipelines[0].Pipeline != "picky" || f.Pipelines[0].DeadLetters != 1 {
			t.Errorf("%s: the pipelines are %+v", when, f.Pipelines)
		}
	}
	check("before the restart", 3)
	s.stop()
	s.resume()
	check("after the restart", 4) // one tells of the stop
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
		EventKey            string
		Accepted, OK, Error int
		Hours               []int
	}
	read := func(params map[string]any) (found []webhook) {
		s.command("webhook.stats", params).wantStatus(t, http.StatusOK).into(t, &found)
		return found
	}
	check := func() {
		t.Helper()
		eventually(t, "the counts", func() bool {
			found := read(nil)
			return len(found) == 2 && found[0].EventKey == "webhook.counted" && found[0].Accepted == 3 && found[0].OK == 2 && found[0].Error == 1 && len(found[0].Hours) == 24 && found[1].OK == 1
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
		Minutes, Hours []struct{ Accepted, Error, Runs, RunErrors int }
	}
	s.command("server.stats", map[string]any{"minutes": 5, "hours": 720}).wantStatus(t, http.StatusOK).into(t, &f)
	sum := 0
	for _, hour := range f.Hours {
		sum += hour.Error
	}
	if len(f.Hours) != 720 || sum != 1 {
		t.Errorf("%d hours have %d failed calls", len(f.Hours), sum)
	}
}

// TestFiguresInAnOutage: at each step of an outage every call is in one state, the figures of
// webhooks, of minutes and of the metrics say the same as the list of calls, and after
// good replays nothing has failed.
func TestFiguresInAnOutage(t *testing.T) {
	t.Parallel()
	out := newOutside(t)
	system := &target{down: true}
	system.failsFor(out, func(string) bool { return true })
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	hook := s.create("webhook.night", "payloadType", "raw")
	s.store("forward", "retry: {times: 1, backoff: 1h}\n"+forwarding("webhook.night", out))
	s.store("second", listening("webhook.night", "set: {value: 1}"))

	states := []string{"processing", "retrying", "ok", "error", "recovered"}
	type counts map[string]int
	listed := func() counts {
		c := make(counts)
		for _, state := range states {
			var found struct{ Items []struct{ ReplayOf string } }
			s.command("trace.get", map[string]any{"eventKey": "webhook.night", "status": state, "limit": 100}).wantStatus(t, 200).into(t, &found)
			for _, item := range found.Items {
				if item.ReplayOf == "" {
					c[state]++
					c["accepted"]++
				}
			}
		}
		return c
	}
	check := func(when string, want counts) {
		t.Helper()
		var of []map[string]any
		agree := func(figures map[string]any) bool {
			for _, state := range append(states, "accepted") {
				if n, ok := figures[state].(float64); !ok || int(n) != want[state] {
					return false
				}
			}
			return true
		}
		eventually(t, when+": the figures agree", func() bool {
			s.command("webhook.stats", map[string]any{"eventKey": "webhook.night"}).wantStatus(t, 200).into(t, &of)
			var server struct{ Minutes []map[string]any }
			s.command("server.stats", map[string]any{"minutes": 60}).wantStatus(t, 200).into(t, &server)
			sum := map[string]any{"processing": 0.0, "retrying": 0.0, "ok": 0.0, "error": 0.0, "recovered": 0.0, "accepted": 0.0}
			for _, minute := range server.Minutes {
				for figure := range sum {
					sum[figure] = sum[figure].(float64) + minute[figure].(float64)
				}
			}
			list := listed()
			for _, state := range append(states, "accepted") {
				if list[state] != want[state] {
					return false
				}
			}
			return len(of) == 1 && agree(of[0]) && agree(sum)
		})
	}
	retry := func() { s.command("event.retry", map[string]any{"pipeline": "forward"}).wantStatus(t, 200) }

	for range 4 {
		s.call(hook, "text/plain", "x").wantStatus(t, 200)
	}
	check("while it is down", counts{"accepted": 4, "retrying": 4})
	s.stop()
	s.resume()
	check("after a restart", counts{"accepted": 4, "retrying": 4})
	retry()
	check("after the last attempt", counts{"accepted": 4, "error": 4})
	s.call(hook, "text/plain", "y").wantStatus(t, 200)
	check("with another call", counts{"accepted": 5, "error": 4, "retrying": 1})
	system.comeBack()
	retry()
	check("when it is back", counts{"accepted": 5, "error": 4, "ok": 1})
	s.command("event.replay", map[string]any{"eventKey": "webhook.night", "status": "error", "since": "1h"}).wantStatus(t, 200)
	check("after replays", counts{"accepted": 5, "ok": 1, "recovered": 4})
	shown := string(s.send("GET", "/metrics", nil, asAdmin).wantStatus(t, 200).body)
	for _, line := range []string{
		`sluice_webhook_calls_total{status="error",webhook="webhook.night"} 4`,
		`sluice_webhook_calls_total{status="recovered",webhook="webhook.night"} 4`,
		`sluice_webhook_calls_total{status="ok",webhook="webhook.night"} 1`,
		`sluice_webhook_last_call_timestamp_seconds{webhook="webhook.night"} `,
		`sluice_events_retrying{pipeline="forward"} 0`,
		`sluice_dead_letters{pipeline="forward"} `,
	} {
		if !strings.Contains(shown, "\n"+line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	s.stop()
	s.resume()
	check("in the end", counts{"accepted": 5, "ok": 1, "recovered": 4})
}
