package serve_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var traceForm = regexp.MustCompile(`^[0-9a-f]{6}:[a-z0-9]{10,}$`)

// TestAnswerOfACall: what the caller of a webhook is told.
func TestAnswerOfACall(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.answer")
	got := s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK)

	traceID, correlationID := traceOf(got), got.header.Get("svc-result-correlationid")
	if !traceForm.MatchString(traceID) || !strings.HasPrefix(traceID, hook.last6()+":") {
		t.Errorf("the trace id is %q, want %s: and a random id", traceID, hook.last6())
	}
	if !uuidForm.MatchString(correlationID) {
		t.Errorf("the correlation id is %q, want a UUID", correlationID)
	}
	for name, want := range map[string]string{
		"Content-Type":    "application/json",
		"Cache-Control":   "no-store",
		"Referrer-Policy": "no-referrer",
	} {
		if value := got.header.Get(name); value != want {
			t.Errorf("the header %s is %q, want %q", name, value, want)
		}
	}
	result := got.object(t)
	if created, err := time.Parse(time.RFC3339, result["created"].(string)); err != nil || time.Since(created).Abs() > time.Minute {
		t.Errorf("created is %v", result["created"])
	}
	delete(result, "created")
	want := map[string]any{
		"statusCode":             float64(200),
		"status":                 "ok",
		"value":                  map[string]any{"status": "OK", "traceId": traceID},
		"pollingRedirectEnabled": false,
		"correlationId":          correlationID,
		"traceId":                traceID,
	}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("the result is another one (-want +got):\n%s", diff)
	}
}

// TestIdsAreNew: each call has ids of its own, also calls that are alike.
func TestIdsAreNew(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.ids")
	seen := make(map[string]bool)
	for range 50 {
		got := s.call(hook, "text/plain", "same").wantStatus(t, http.StatusOK)
		for _, id := range []string{traceOf(got), got.header.Get("svc-result-correlationid")} {
			if id == "" || seen[id] {
				t.Fatalf("the id %q was given before", id)
			}
			seen[id] = true
		}
	}
}

// TestLogLine: each accepted call is one line of the log, a refused one is none.
func TestLogLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.logged", "maxPayloadLength", 5)
	got := s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK)
	s.call(hook, "text/plain", "too large").wantStatus(t, http.StatusRequestEntityTooLarge)

	var lines []map[string]any
	for line := range strings.Lines(s.log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if message, _ := entry["msg"].(string); strings.HasPrefix(message, "Webhook [") {
			lines = append(lines, entry)
		}
	}
	if len(lines) != 1 {
		t.Fatalf("the log has %d lines on calls, want 1: %v", len(lines), lines)
	}
	if want := "Webhook [" + traceOf(got) + "]: OK"; lines[0]["msg"] != want {
		t.Errorf("the line is %q, want %q", lines[0]["msg"], want)
	}
}

// TestRedirectToTheResult: callers who ask for it are sent to the result, on
// this host or the configured one, whatever the request says of the host.
func TestRedirectToTheResult(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		base string // public URL, in front of the path
	}{
		{"no public URL", ""},
		{"a public URL", "https://hooks.example.org/sluice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, "public-url="+test.base)
			hook := s.create("webhook.redirect")
			got := s.send("GET", receivePath+"?pollingRedirectEnabled=true", nil, header("Token", hook.UUID),
				func(r *http.Request) { r.Host = "evil.example.org" },
				header("X-Forwarded-Host", "evil.example.org"),
				header("X-Forwarded-Proto", "gopher"),
				header("X-Forwarded-Prefix", "//evil.example.org"),
				header("Forwarded", "host=evil.example.org;proto=gopher"))
			got.wantStatus(t, http.StatusFound)

			correlationID := got.header.Get("svc-result-correlationid")
			path := resultPath + "?svc-result-correlationid=" + correlationID + "&pollingRedirectEnabled=true"
			if location := got.header.Get("Location"); location != test.base+path {
				t.Errorf("Location is %q, want %q", location, test.base+path)
			}
			if !traceForm.MatchString(traceOf(got)) {
				t.Errorf("the trace id is %q", traceOf(got))
			}
			result := s.send("GET", path, nil).wantStatus(t, http.StatusOK).object(t)
			if result["pollingRedirectEnabled"] != true || result["correlationId"] != correlationID || result["traceId"] != traceOf(got) {
				t.Errorf("the result is %v", result)
			}
			wantExactly(t, s.events(), []string{traceOf(got)})
		})
	}
}

// TestNoRedirectUnasked: the parameter says false, or something else says true.
func TestNoRedirectUnasked(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.plain")
	for _, query := range []string{"?pollingRedirectEnabled=false", "?pollingRedirectEnabled=", "?PollingRedirectEnabled=true"} {
		got := s.send("GET", receivePath+query, nil, header("Token", hook.UUID), header("pollingRedirectEnabled", "true")).wantStatus(t, http.StatusOK)
		if got.object(t)["pollingRedirectEnabled"] != false {
			t.Errorf("%s: the result is %s", query, got.body)
		}
	}
}

// TestQueryBelongsToTheCaller: names that no command has are fine in a call.
func TestQueryBelongsToTheCaller(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.query")
	got := s.send("GET", receivePath+"?eventKey=x&limit=many&limit=more&token="+hook.UUID, nil).wantStatus(t, http.StatusOK)
	want := map[string][]string{"eventKey": {"x"}, "limit": {"many", "more"}}
	if diff := cmp.Diff(want, s.events()[traceOf(got)].Query); diff != "" {
		t.Errorf("the event has another query (-want +got):\n%s", diff)
	}
}

// TestAuthorizationIsNotForWebhooks: credentials neither help nor harm a call.
func TestAuthorizationIsNotForWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.credentials")
	s.send("POST", receivePath, nil, asAdmin).wantProblem(t, http.StatusUnauthorized, "token-missing")
	s.call(hook, "text/plain", "", header("Authorization", basic("admin", "wrong"))).wantStatus(t, http.StatusOK)
	s.call(hook, "text/plain", "", header("Authorization", "a"), header("Authorization", "b")).wantStatus(t, http.StatusOK)
}
