package serve_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/serve"
)

// TestFiguresOfACopy: what a server had counted and not stored yet when it was backed up is counted anew by its copy:
// each attempt and each replay once, and a run that was under way once it has ended there.
func TestFiguresOfACopy(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	o.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	s := start(t, "http-allow=127.0.0.0/8")
	h := s.create("webhook.mixed", "payloadType", "raw")
	s.store("failing", "retry: {times: 1, backoff: 10ms}\n"+
		listening("webhook.mixed", "http.request: {url: '"+o.url+"/down', expect: 2xx}"))
	s.store("choosy",
		"pipeline:\n- event.listen: {eventKey: webhook.mixed, where: '#{body.payload == \"good\"}'}\n- set: {value: 1}\n")
	s.store("sending", listening("webhook.mixed", "event.send: {eventKey: part.ready}"))
	s.store("next", listening("part.ready", "set: {value: 1}"))
	s.store("asked", "pipeline: [{set: {value: 1}}]")
	for _, body := range []string{"good", "bad"} {
		s.call(h, "text/plain", body).wantStatus(t, http.StatusOK)
	}
	s.send("POST", "/api/v3/command/pipeline.run?name=asked", nil, asAdmin).wantStatus(t, http.StatusOK)
	s.call(hook{UUID: unknownToken}, "text/plain", "x").wantStatus(t, http.StatusUnauthorized)
	runsIn := func(s *service) map[string]sluice.RunFigures {
		all := make(map[string]sluice.RunFigures)
		for _, name := range []string{"failing", "choosy", "sending", "next", "asked", "held"} {
			var found sluice.PipelineRuns
			s.command("pipeline.stats", map[string]any{"name": name}).wantStatus(t, http.StatusOK).into(t, &found)
			all[name] = found.RunFigures
		}
		var stats figures
		s.command("server.stats", map[string]any{"minutes": 60}).wantStatus(t, http.StatusOK).into(t, &stats)
		_, rejected, runs, failed, _ := stats.sum()
		all["sums"] = sluice.RunFigures{Runs: runs, Errors: failed, Passed: rejected}
		return all
	}
	want := map[string]sluice.RunFigures{
		"failing": {Runs: 4, Errors: 4}, "choosy": {Runs: 1, Passed: 1}, "sending": {Runs: 2}, "next": {Runs: 2},
		"asked": {Runs: 1}, "held": {}, "sums": {Runs: 10, Errors: 4, Passed: 1},
	}
	reached := func(s *service, what string) {
		t.Helper()
		var diff string
		defer func() {
			if diff != "" {
				t.Log(diff)
			}
		}()
		eventually(t, what, func() bool { diff = cmp.Diff(want, runsIn(s)); return diff == "" })
	}
	reached(s, "the runs")
	again := map[string]any{"eventKey": "webhook.mixed", "since": "1h", "pipeline": "failing"}
	s.command("event.replay", again).wantStatus(t, http.StatusOK)
	want["failing"] = sluice.RunFigures{Runs: 8, Errors: 8}
	want["sums"] = sluice.RunFigures{Runs: 14, Errors: 8, Passed: 1}
	reached(s, "the replays")
	s.store("held", listening("webhook.held", o.held()))
	s.call(s.create("webhook.held"), "text/plain", "x").wantStatus(t, http.StatusOK)
	for o.next().path != "/held" {
	}
	var before, after sluice.PipelineRuns
	s.command("pipeline.stats", map[string]any{"name": "failing"}).wantStatus(t, http.StatusOK).into(t, &before)

	file := bytes.NewReader(s.command("server.backup", nil).wantStatus(t, http.StatusOK).body)
	data := filepath.Join(t.TempDir(), "copy")
	opts := serve.RestoreOptions{Log: slog.New(slog.DiscardHandler), Progress: func(int64, int64) {}}
	if _, err := serve.Restore(t.Context(), load(t, data), file, opts); err != nil {
		t.Fatal(err)
	}
	copied := start(t, "data="+data, "http-allow=127.0.0.0/8")
	for o.next().path != "/held" {
	}
	reached(copied, "the same figures in the copy")
	copied.command("pipeline.stats", map[string]any{"name": "failing"}).wantStatus(t, http.StatusOK).into(t, &after)
	if diff := cmp.Diff(before.Pipelines, after.Pipelines); diff != "" {
		t.Errorf("in the copy the state of what fails differs: %s", diff)
	}
	close(o.release)
	want["held"], want["sums"] = sluice.RunFigures{Runs: 1}, sluice.RunFigures{Runs: 15, Errors: 8, Passed: 1}
	reached(copied, "the run that was under way")
}
