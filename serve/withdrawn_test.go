package serve_test

import (
	"net/http"
	"testing"

	"sluice"
)

// TestCallsOfADeletedPipeline: calls that wait for a pipeline are failed once it is deleted, for whatever they
// waited: in the figures, and in the trace.
func TestCallsOfADeletedPipeline(t *testing.T) {
	t.Parallel()
	const calls = 3
	const later = "retry: {times: 5, backoff: 1h}\n"
	for name, test := range map[string]struct {
		head, steps  string
		paused, held bool
		status       sluice.Status // of the calls while they wait
	}{
		"for another attempt":          {head: later, steps: "- fail: {message: Later., statusCode: 503}\n", status: sluice.StatusRetrying},
		"for another attempt in order": {head: "concurrency: 1\n" + later, steps: "- fail: {message: Later., statusCode: 503}\n", status: sluice.StatusProcessing},
		"for an answer":                {steps: "- work: {queue: waits, input: 1}\n", status: sluice.StatusProcessing},
		"for the pipeline":             {steps: "- set: {value: 1}\n", paused: true, status: sluice.StatusProcessing},
		"in an attempt":                {head: later, steps: "- fail: {message: Later., statusCode: 503}\n", held: true, status: sluice.StatusProcessing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutside(t)
			s := start(t, "http-allow=127.0.0.0/8")
			h := s.create("webhook.waits")
			steps := test.steps
			if test.held {
				steps = "- iam.run.as: {username: admin}\n- " + o.held() + "\n" + steps
			}
			s.store("waits", test.head+"pipeline:\n- event.listen: {eventKey: webhook.waits}\n"+steps)
			if test.paused {
				s.command("pipeline.pause", map[string]any{"name": "waits"}).wantStatus(t, http.StatusOK)
			}
			for range calls {
				s.call(h, "text/plain", "x").wantStatus(t, http.StatusOK)
				if test.held {
					o.next()
				}
			}
			count := func(status sluice.Status) int {
				var found sluice.List[sluice.Call]
				s.command("trace.get", map[string]any{"eventKey": "webhook.waits", "status": status}).wantStatus(t, http.StatusOK).into(t, &found)
				return len(found.Items)
			}
			eventually(t, "the calls to wait", func() bool {
				return count(test.status) > 0 && count(sluice.StatusProcessing)+count(sluice.StatusRetrying) == calls
			})
			s.command("pipeline.delete", map[string]any{"name": "waits"}).wantStatus(t, http.StatusOK)
			close(o.release)
			eventually(t, "the calls to be failed", func() bool {
				var found []sluice.CallFigures
				s.command("webhook.stats", map[string]any{"eventKey": "webhook.waits"}).wantStatus(t, http.StatusOK).into(t, &found)
				return len(found) == 1 && found[0] == sluice.CallFigures{Accepted: calls, Error: calls} && count(sluice.StatusError) == calls
			})
		})
	}
}
