package serve_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFiltersByType: an event of another kind is as if the pipeline did not listen to it.
func TestFiltersByType(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.git", "payloadType", "raw", "eventType", "header:X-GitHub-Event")
	s.store("pushes", "pipeline:\n  - event.listen: {eventKey: webhook.git, type: push}\n  - set: {value: pushed}\n")
	s.store("requests", "pipeline:\n  - event.listen: {eventKey: webhook.*, type: [pull_*, issues]}\n  - set: {value: requested}\n")
	for _, test := range []struct{ kind, want, runs string }{
		{"push", `"pushed"`, "pushes"},
		{"pull_request", `"requested"`, "requests"},
		{"issues", `"requested"`, "requests"},
		{"ping", "", ""}, // the trace information, as if nobody listened
		{"", "", ""},
	} {
		got := s.call(h, "application/json", "{}", header("X-GitHub-Event", test.kind)).wantStatus(t, 200)
		var result struct{ Value json.RawMessage }
		if got.into(t, &result); test.want != "" && string(result.Value) != test.want || test.want == "" && !strings.Contains(string(result.Value), "traceId") {
			t.Errorf("%q comes to %s", test.kind, got.body)
		}
		runs := ""
		for _, run := range s.traces("traceId", got.header.Get("svc-trace-id"))[0].Runs {
			runs += run.Pipeline
		}
		if runs != test.runs {
			t.Errorf("%q is run by %q, want %q", test.kind, runs, test.runs)
		}
	}
	ping := s.traces("type", "ping")[0].TraceID
	s.command("event.replay", map[string]any{"traceId": ping, "pipeline": "pushes"}).wantProblem(t, 409, "pipeline-not-listening")
}

// TestNoLongerWanted: what waits when a pipeline ceases to want it is passed over.
func TestNoLongerWanted(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.git", "eventType", "header:X-GitHub-Event")
	s.store("pushes", "pipeline:\n  - event.listen: {eventKey: webhook.git, type: push}\n  - set: {value: pushed}\n")
	s.command("pipeline.pause", map[string]any{"name": "pushes"}).wantStatus(t, 200)
	waits := s.call(h, "application/json", "{}", header("X-GitHub-Event", "push")).wantStatus(t, 200).object(t)
	s.store("pushes", "pipeline:\n  - event.listen: {eventKey: webhook.git, type: release}\n  - set: {value: released}\n")
	s.command("pipeline.resume", map[string]any{"name": "pushes"}).wantStatus(t, 200)
	eventually(t, "what waited is passed over", func() bool {
		runs := s.traces("traceId", waits["traceId"].(string))[0].Runs
		return len(runs) == 1 && runs[0].Status == "passed"
	})
}

// TestPassingOverWaitsForNoRun: what a pipeline does not want is done while many that it wants wait for
// a slot.
func TestPassingOverWaitsForNoRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.git", "payloadType", "raw", "answer", "empty")
	s.store("main", "concurrency: 2\nrate: 1/h\npipeline:\n  - event.listen: {eventKey: webhook.git, where: '#{body.payload.ref == \"main\"}'}\n")
	for range 40 {
		s.call(h, "application/json", `{"ref":"main"}`).wantStatus(t, 200)
	}
	unwanted := s.call(h, "application/json", `{"ref":"topic"}`).wantStatus(t, 200).header.Get("svc-trace-id")
	eventually(t, "it is passed over", func() bool { return s.traces("traceId", unwanted)[0].Status == "ok" })
}

// TestFiltersByWhere: an event that a pipeline does not want makes no run, and its result is as if
// the pipeline did not listen.
func TestFiltersByWhere(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.git", "payloadType", "raw")
	s.store("main", "rate: 1/h\npipeline:\n  - event.listen: {eventKey: webhook.git, where: '#{body.payload.ref == \"main\"}'}\n  - set: {value: built}\n")
	call := func(body string) (map[string]any, trace) {
		got := s.call(h, "application/json", body).wantStatus(t, 200)
		return got.object(t), s.traces("traceId", got.header.Get("svc-trace-id"))[0]
	}
	for range 3 { // which would take hours if they counted for the rate
		result, found := call(`{"ref":"topic"}`)
		if value, _ := result["value"].(map[string]any); result["status"] != "ok" || value["traceId"] == nil {
			t.Errorf("passed over: %v", result)
		}
		if found.Status != "ok" || len(found.Runs) != 1 || found.Runs[0].Pipeline != "main" || found.Runs[0].Status != "passed" || len(found.Runs[0].Steps) != 0 {
			t.Errorf("passed over: %+v", found)
		}
		if again := s.poll(result["correlationId"].(string)).wantStatus(t, 200).object(t); again["status"] != "ok" {
			t.Errorf("polled: %v", again)
		}
	}
	if result, found := call(`{"ref":"main"}`); result["value"] != "built" || found.Runs[0].Status != "ok" {
		t.Errorf("wanted: %v, %+v", result, found)
	}
	var stats struct{ Runs, Errors, Passed int }
	s.command("pipeline.stats", map[string]any{"name": "main"}).wantStatus(t, 200).into(t, &stats)
	if stats.Runs != 1 || stats.Passed != 3 || stats.Errors != 0 {
		t.Errorf("pipeline.stats: %+v", stats)
	}
	// One other that ran: its value. An expression that fails is a failed run.
	s.store("other", "pipeline:\n  - event.listen: {eventKey: webhook.git}\n  - set: {value: other}\n")
	if result, _ := call(`{"ref":"topic"}`); result["value"] != "other" {
		t.Errorf("with another: %v", result)
	}
	s.command("pipeline.delete", map[string]any{"name": "main"}).wantStatus(t, 200)
	s.store("other", "pipeline:\n  - event.listen: {eventKey: webhook.git, where: '#{body.payload.total > 7}'}\n  - set: {value: other}\n")
	result, found := call(`{"total":"many"}`)
	if result["status"] != "error" || found.Status != "error" || len(found.Runs) != 1 || found.Runs[0].Error["code"] != "expression-failed" || found.Runs[0].Error["line"] != 2.0 {
		t.Errorf("an expression that fails: %v, %+v", result, found)
	}
	s.store("message", "pipeline:\n  - message.receive: {key: svc.event.webhook.git, where: '#{body.payload.total == 1}'}\n  - set: {value: message}\n")
	s.command("pipeline.delete", map[string]any{"name": "other"}).wantStatus(t, 200)
	if result, _ := call(`{"total":1}`); result["value"] != "message" {
		t.Errorf("message.receive: %v", result)
	}
	if result, _ := call(`{"total":2}`); result["value"] == "message" {
		t.Errorf("message.receive passes over nothing: %v", result)
	}
	// What it does not want has no place among the others either, not even a wrong one.
	s.store("message", "order: '#{body.payload.id / body.payload.size}'\npipeline:\n"+
		"  - event.listen: {eventKey: webhook.git, where: '#{body.payload.size > 0}'}\n  - set: {value: sized}\n")
	if _, found := call(`{"id":1,"size":0}`); found.Status != "ok" || found.Runs[0].Status != "passed" {
		t.Errorf("with an order that fails: %+v", found)
	}
	result, found = call(`{"id":"one","size":1}`)
	if result["status"] != "error" || len(found.Runs) != 1 || found.Runs[0].Error["code"] != "expression-failed" {
		t.Errorf("wanted, with an order that fails: %v, %+v", result, found)
	}
}
