package serve_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestRecordsAreBounded: what users store has a bound in bytes. Beyond it they are told so,
// and calls go on; what is deleted makes room. It runs alone: the servers of other tests
// would take the memory of this one.
func TestRecordsAreBounded(t *testing.T) {
	s := start(t, "memory-limit=128MiB") // 4 MiB for records
	hook := s.create("webhook.bounded")
	source := "pipeline: [set: {value: " + strings.Repeat("x", 250_000) + "}]"
	stored := 0
	var refused answer
	for refused = s.put("p0", source, asAdmin); refused.status < 300; refused = s.put(fmt.Sprint("p", stored), source, asAdmin) {
		stored++
	}
	refused.wantProblem(t, http.StatusInsufficientStorage, "too-many-records")
	if stored < 10 || stored > 4<<20/250_000 {
		t.Errorf("%d pipelines were stored", stored)
	}
	s.call(hook, "text/plain", strings.Repeat("x", 100_000)).wantStatus(t, http.StatusOK)
	ready := s.send(http.MethodGet, "/readyz", nil, asAdmin).wantStatus(t, http.StatusOK)
	if !strings.Contains(string(ready.body), "records take") {
		t.Errorf("nobody is warned: %s", ready.body)
	}
	metrics := string(s.send(http.MethodGet, "/metrics", nil, asAdmin).wantStatus(t, http.StatusOK).body)
	for _, want := range []string{`(?m)^sluice_records_bytes [34]\.\d+e\+06$`, `(?m)^sluice_records_refused_total 1$`} {
		if !regexp.MustCompile(want).MatchString(metrics) {
			t.Errorf("the metrics don't have %s", want)
		}
	}
	s.command("webhook.put", map[string]any{"uuid": hook.UUID, "disabled": true}, asAdmin).wantStatus(t, http.StatusOK)
	s.command("pipeline.delete", map[string]any{"name": "p1"}, asAdmin).wantStatus(t, http.StatusOK)
	s.put("p1", source, asAdmin).wantStatus(t, http.StatusOK)
}
