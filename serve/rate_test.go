package serve_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestRateOfAWebhook: calls beyond it are refused before their signature is checked, and cost
// other webhooks nothing. All of them count as rejected; none is kept, and few are in traces.
func TestRateOfAWebhook(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.wild", "provider", "github", "signingSecret", "s", "rate", "3/h")
	other := s.create("webhook.calm", "rate", "50/s")
	forged := func() answer { return s.call(h, "text/plain", "x", header("X-Hub-Signature-256", "sha256=00")) }
	forged().wantProblem(t, 401, "signature-invalid")
	const beyond = 20
	for range beyond {
		a := forged()
		a.wantProblem(t, 429, "too-many-calls")
		if after, _ := strconv.Atoi(a.header.Get("Retry-After")); after < 1000 || after > 1200 {
			t.Fatalf("Retry-After is %q, want a third of an hour", a.header.Get("Retry-After"))
		}
	}
	for range 50 { // the burst of a second
		s.call(other, "text/plain", "x").wantStatus(t, 200)
	}
	if kept := s.quarantine(nil); len(kept) != 1 || kept[0].Code != "signature-invalid" {
		t.Errorf("kept: %+v", kept)
	}
	if listed := len(s.callsOf(h, "rejected")); listed < 2 || listed >= beyond/2 {
		t.Errorf("%d calls are in traces, want the first and one a second", listed)
	}
	if metrics := s.send("GET", "/metrics", http.NoBody, asAdmin); !strings.Contains(string(metrics.body), `sluice_webhook_calls_total{status="rejected",webhook="webhook.wild"} 21`) {
		t.Errorf("the metrics are %s", metrics.body)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "rate": ""}).wantStatus(t, 200)
	forged().wantProblem(t, 401, "signature-invalid")
	for _, wrong := range []string{"0/s", "100001/s", "10", "10/d", "/s", "1.5/s", "-1/m", "10/s "} {
		got := s.command("webhook.put", map[string]any{"uuid": h.UUID, "rate": wrong})
		if problem := got.wantProblem(t, 400, "parameter-invalid"); problem["parameter"] != "rate" {
			t.Errorf("%q: %v", wrong, problem)
		}
	}
}
