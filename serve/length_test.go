package serve_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestLengthBySender: without a length of its own a webhook takes what its sender sends.
func TestLengthBySender(t *testing.T) {
	t.Parallel()
	s := start(t)
	hub := s.create("webhook.hub", "provider", "github", "signingSecret", "s")
	post := func(size int) answer {
		body := strings.Repeat("x", size)
		return s.call(hub, "text/plain", body, header("X-Hub-Signature-256", "sha256="+hexMAC("s", body)))
	}
	post(746_000).wantStatus(t, 200)
	post(4<<20).wantStatus(t, 200)
	runScenarios(t, s, []string{"{hub}", hub.UUID}, []scenario{
		{name: "shown", method: "GET", target: "webhook.get?uuid={hub}", status: 200, fields: map[string]any{"maxPayloadLength": 4194304}},
		{name: "of the sender", method: "GET", target: "provider.get?provider=jira", status: 200, fields: map[string]any{"maxPayloadLength": 4194304}},
		{name: "of most senders", method: "GET", target: "provider.get?provider=stripe", status: 200, fields: map[string]any{"maxPayloadLength": 512000}},
		{name: "beyond the bound", target: "webhook.put?uuid={hub}&maxPayloadLength=4194305", status: 400, code: "parameter-invalid", parameter: "maxPayloadLength"},
		{name: "of its own", target: "webhook.put?uuid={hub}&maxPayloadLength=512000", status: 200, fields: map[string]any{"maxPayloadLength": 512000}},
		{name: "emptied", target: "webhook.put?uuid={hub}&maxPayloadLength=", status: 200, fields: map[string]any{"maxPayloadLength": 4194304}},
		{name: "another sender", target: "webhook.put?uuid={hub}&provider=stripe", status: 200, fields: map[string]any{"maxPayloadLength": 512000}},
	})
}

// TestTooLargeCallsAreNoted: in the quarantine, without their bodies, from where they can't
// be admitted; their size is as far as it was announced or read.
func TestTooLargeCallsAreNoted(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.large", "provider", "github", "signingSecret", "s", "redact", "headers.x-customer")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "maxPayloadLength": 1000}).wantStatus(t, 200)
	secret := header("X-Customer", "CANARY")
	sizes := map[string]int{}
	note := func(a answer, size int) {
		t.Helper()
		sizes[a.wantProblem(t, 413, "payload-too-large")["traceId"].(string)] = size
	}
	note(s.call(h, "text/plain", strings.Repeat("x", 9_000_000), secret), 9_000_000)
	chunked := func(r *http.Request) { r.ContentLength, r.Body = -1, io.NopCloser(bytes.NewReader(make([]byte, 1001))) }
	note(s.call(h, "text/plain", "", secret, chunked), 1001)
	note(s.send("POST", receivePath, strings.NewReader(`{"token":"`+h.UUID+`","x":"`+strings.Repeat("x", 2000)+`"}`), header("Content-Type", "application/json"), secret),
		2000+len(`{"token":"","x":""}`)+len(h.UUID))
	items := s.quarantine(map[string]any{"code": "payload-too-large"})
	for _, kept := range items {
		raised := strings.Contains(strings.Join(kept.Diagnosis, ""), "raise that, to 4,194,304")
		if kept.Size != sizes[kept.ID] || kept.Body != "" || kept.Headers["x-customer"] != "***" || raised != (kept.Size <= 4<<20) {
			t.Errorf("kept, of a size of %d: %+v", sizes[kept.ID], kept)
		}
		s.command("quarantine.admit", map[string]any{"id": kept.ID}).wantProblem(t, 409, "not-admissible")
		s.command("quarantine.admit", map[string]any{"id": kept.ID, "force": true}).wantProblem(t, 409, "not-admissible")
	}
	if len(items) != 3 || len(sizes) != 3 {
		t.Errorf("kept: %+v", items)
	}
	if a := s.admit(map[string]any{"eventKey": h.EventKey, "force": true}); a.Refused != 3 || a.Items[0].Code != "not-admissible" {
		t.Errorf("all together: %+v", a)
	}
	calls := s.callsOf(h, "rejected")
	for _, call := range calls {
		if id := call["traceId"].(string); call["quarantine"] != id || call["size"] != float64(sizes[id]) {
			t.Errorf("trace.get: %v", call)
		}
	}
	if len(calls) != 3 || len(s.quarantine(nil)) != 3 {
		t.Errorf("trace.get: %v", calls)
	}
}
