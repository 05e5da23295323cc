package serve_test

import (
	"slices"
	"strings"
	"testing"
)

// TestRunsOfAPipelineAreFound: trace.get finds the events of a pipeline and its runs by users, and
// nothing else, however long ago and in pages of any size; and of those the failed ones.
func TestRunsOfAPipelineAreFound(t *testing.T) {
	s := start(t)
	picky, plain := s.create("webhook.picky", "payloadType", "raw"), s.create("webhook.plain")
	s.store("picky", "pipeline:\n- event.listen: {eventKey: webhook.picky}\n- assert: {\"true\": \"#{body.payload == 'good'}\"}\n").wantStatus(t, 200)
	s.store("all", "pipeline:\n- event.listen: {eventKey: 'webhook.#'}\n- set: {value: 1}\n").wantStatus(t, 200)
	call := func(h hook, body string) string {
		return s.call(h, "text/plain", body).wantStatus(t, 200).header.Get("svc-trace-id")
	}
	good, bad, other := call(picky, "good"), call(picky, "bad"), call(plain, "x")
	s.send("POST", "/api/v3/pipeline/picky", strings.NewReader(`{"payload":"good"}`), asAdmin).wantStatus(t, 200)
	s.store("late", "pipeline:\n- event.listen: {eventKey: webhook.plain}\n- set: {value: 1}\n").wantStatus(t, 200)
	s.command("event.replay", map[string]any{"traceId": other, "pipeline": "late"}).wantStatus(t, 200)
	check := func(when string) {
		t.Helper()
		for _, test := range []struct {
			pipeline, status string
			want             []string
		}{
			{"picky", "", []string{"direct", good, bad}},
			{"picky", "error", []string{bad}},
			{"picky", "ok", []string{"direct", good}},
			{"all", "", []string{good, bad, other}},
			{"all", "error", []string{bad}},
			{"late", "", []string{"replay"}},
			{"late", "error", nil},
			{"unknown", "", nil},
			{"", "error", []string{bad}},
			{"", "processing", nil},
		} {
			for _, limit := range []string{"1", "100"} {
				var got []string
				query := []string{"pipeline", test.pipeline, "limit", limit}
				if test.status != "" {
					query = append(query, "status", test.status)
				}
				for _, found := range s.traces(query...) {
					switch {
					case found.ReplayOf != "":
						got = append(got, "replay")
					case found.CorrelationID == "":
						got = append(got, "direct")
					default:
						got = append(got, found.TraceID)
					}
				}
				slices.Sort(got)
				slices.Sort(test.want)
				if !slices.Equal(got, test.want) {
					t.Errorf("%s: %s %s in pages of %s: found %v, want %v", when, test.pipeline, test.status, limit, got, test.want)
				}
			}
		}
	}
	eventually(t, "all runs to be done", func() bool {
		return len(s.traces("status", "processing")) == 0 && len(s.traces("pipeline", "late")) == 1
	})
	check("right away")
	s.stop()
	s.resume()
	check("after a restart")
	s.command("pipeline.delete", map[string]any{"name": "picky"}).wantStatus(t, 200)
	check("after the pipeline was deleted")
}
