package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestADifferingDuplicateIsToldNothing of the first call, neither its result nor its ids:
// whoever has only the token may have guessed the delivery id.
func TestADifferingDuplicateIsToldNothing(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.ids", "dedupe", "header:X-Id", "payloadType", "raw")
	s.store("secretive", "pipeline:\n- event.listen: {eventKey: webhook.ids}\n- set: {value: '#{body.payload.secret}'}\n")
	first := s.call(h, "application/json", `{"secret":"of the first"}`, header("X-Id", "1")).result(t)
	if first.Value != "of the first" {
		t.Fatalf("the first call: %+v", first)
	}
	same := s.call(h, "application/json", `{"secret":"of the first"}`, header("X-Id", "1"))
	if again := same.result(t); same.header.Get("svc-duplicate") != "true" || again.Value != first.Value || again.TraceID != first.TraceID {
		t.Errorf("the same call again: %s", same)
	}
	var seen []string
	for _, query := range []string{"", "?pollingRedirectEnabled=true"} {
		got := s.send("POST", receivePath+query, strings.NewReader(`{"secret":"?"}`), header("Token", h.UUID), header("Content-Type", "application/json"), header("X-Id", "1"))
		differs := got.result(t)
		if got.header.Get("svc-duplicate") != "differs" || differs.Value != nil || differs.CorrelationID != "" || got.header.Get("svc-result-correlationid") != "" || got.header.Get("Location") != "" {
			t.Errorf("another body: %s %v", got, got.header)
		}
		if told := fmt.Sprint(got.header, string(got.body)); strings.Contains(told, first.TraceID) || strings.Contains(told, first.CorrelationID) || strings.Contains(told, "of the first") {
			t.Errorf("another body is told of the first: %s", told)
		}
		if differs.TraceID == "" || got.header.Get("svc-trace-id") != differs.TraceID {
			t.Errorf("the trace ids are %q and %q", differs.TraceID, got.header.Get("svc-trace-id"))
		}
		seen = append(seen, differs.TraceID)
	}
	for _, traceID := range seen {
		found := s.command("trace.get", map[string]any{"traceId": traceID}).wantStatus(t, 200)
		for _, want := range []string{`"traceId":"` + traceID + `"`, `"status":"rejected"`, `"statusCode":200`, `"code":"duplicate-differs"`, `"quarantine":"` + traceID + `"`} {
			if !strings.Contains(string(found.body), want) {
				t.Errorf("%s is found as %s, without %s", traceID, found, want)
			}
		}
		if told := string(found.body); strings.Contains(told, first.TraceID) || strings.Contains(told, `"deliveryId"`) {
			t.Errorf("%s is found with what the first call has: %s", traceID, told)
		}
	}
	stats := string(s.command("webhook.stats", map[string]any{"eventKey": "webhook.ids"}).wantStatus(t, 200).body)
	if !strings.Contains(stats, `"rejected":2`) || !strings.Contains(stats, `"accepted":1`) {
		t.Errorf("the figures are %s", stats)
	}
	kept := s.quarantine(map[string]any{"code": "duplicate-differs"})
	if len(kept) != 2 || kept[0].ID != seen[1] || kept[1].ID != seen[0] {
		t.Errorf("kept: %+v, want those of %v", kept, seen)
	}
}

// TestEqualContentIsOneDelivery: with dedupe by content, a captured call is no new event
// under another id, with other headers or another query.
func TestEqualContentIsOneDelivery(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.content", "provider", "github", "signingSecret", "s3cret", "dedupe", "content")
	send := func(id, body, query string) string {
		got := s.send("POST", receivePath+query, strings.NewReader(body), header("Token", h.UUID), header("Content-Type", "application/json"),
			header("X-GitHub-Delivery", id), header("X-Hub-Signature-256", "sha256="+hexMAC("s3cret", body)))
		return got.wantStatus(t, http.StatusOK).header.Get("svc-duplicate")
	}
	for _, call := range []struct{ id, body, query, duplicate string }{
		{"1", `{"n":1}`, "", ""}, {"2", `{"n":1}`, "", "true"}, {"3", `{"n":1}`, "?more=1", "true"}, {"1", `{"n":2}`, "", ""},
	} {
		if got := send(call.id, call.body, call.query); got != call.duplicate {
			t.Errorf("%+v: svc-duplicate is %q", call, got)
		}
	}
	if events := s.accepted(h); events != 2 {
		t.Errorf("there are %d events, want 2", events)
	}
}
