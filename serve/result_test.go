package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestResult: the result of a call is what the call was answered, as often as
// one asks, also after a restart.
func TestResult(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.result")
	call := s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK)
	correlationID := call.header.Get("svc-result-correlationid")
	check := func(a answer) {
		t.Helper()
		a.wantStatus(t, http.StatusOK)
		if string(a.body) != string(call.body) {
			t.Errorf("the result is %s, want what the call was answered: %s", a.body, call.body)
		}
		for _, name := range []string{"svc-result-correlationid", "svc-trace-id", "Content-Type", "Cache-Control"} {
			if a.header.Get(name) != call.header.Get(name) {
				t.Errorf("the header %s is %q, want %q", name, a.header.Get(name), call.header.Get(name))
			}
		}
	}
	for range 20 { // a result that is there is never throttled
		check(s.poll(correlationID))
	}
	check(s.send("GET", resultPath+"?correlationId="+correlationID, nil))
	check(s.send("GET", resultPath+"?correlationId="+correlationID+"&svc-result-correlationid="+correlationID, nil))
	check(s.send("GET", resultPath+"?pollingRedirectEnabled=false&svc-result-correlationid="+correlationID, nil))

	s.stop()
	s.resume()
	check(s.poll(correlationID))
	s.command("webhook.delete", map[string]any{"uuid": hook.UUID}).wantStatus(t, http.StatusOK)
	check(s.poll(correlationID))
}

// TestResultRedirectFlag: a result repeats what its request asked for.
func TestResultRedirectFlag(t *testing.T) {
	t.Parallel()
	s := start(t)
	call := s.call(s.create("webhook.flag"), "text/plain", "hi")
	query := "?svc-result-correlationid=" + call.header.Get("svc-result-correlationid")
	for value, want := range map[string]bool{"": false, "&pollingRedirectEnabled=false": false, "&pollingRedirectEnabled=true": true} {
		got := s.send("GET", resultPath+query+value, nil).wantStatus(t, http.StatusOK).object(t)
		if got["pollingRedirectEnabled"] != want {
			t.Errorf("asked with %q, pollingRedirectEnabled is %v, want %v", value, got["pollingRedirectEnabled"], want)
		}
	}
}

// TestNoResult: ids that belong to no result, and polls that have none.
func TestNoResult(t *testing.T) {
	t.Parallel()
	s := start(t)
	call := s.call(s.create("webhook.none"), "text/plain", "hi")
	id := call.header.Get("svc-result-correlationid")
	// One digit of the id is changed, at each end.
	digit := func(c byte) string { return strings.ReplaceAll("0123456789abcdef", string(c), "")[:1] }
	tests := []struct {
		name, query string
		status      int
		code        string
	}{
		{"no id", "", 400, "parameter-missing"},
		{"an empty id", "svc-result-correlationid=", 400, "parameter-missing"},
		{"two different ids", "svc-result-correlationid=" + id + "&correlationId=" + unknownToken, 400, "parameter-conflict"},
		{"an unknown id", "svc-result-correlationid=" + unknownToken, 410, "result-gone"},
		{"an id that was never given out, close to one that was", "svc-result-correlationid=" + digit(id[0]) + id[1:], 410, "result-gone"},
		{"an id that was never given out, with another end", "svc-result-correlationid=" + id[:35] + digit(id[35]), 410, "result-gone"},
		{"no UUID", "svc-result-correlationid=hello", 410, "result-gone"},
		{"a UUID in braces", "svc-result-correlationid=%7B" + id + "%7D", 410, "result-gone"},
		{"control characters", "svc-result-correlationid=%00%0A", 410, "result-gone"},
		{"very long", "svc-result-correlationid=" + strings.Repeat("a", 10_000), 410, "result-gone"},
		{"the trace id", "svc-result-correlationid=" + traceOf(call), 410, "result-gone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.send("GET", resultPath+"?"+test.query, nil).wantProblem(t, test.status, test.code)
		})
	}
	for _, method := range []string{"HEAD", "POST", "PUT", "DELETE"} {
		got := s.send(method, resultPath+"?svc-result-correlationid="+id, nil).wantStatus(t, http.StatusMethodNotAllowed)
		if allow := got.header.Get("Allow"); allow != "GET" {
			t.Errorf("%s: Allow is %q, want GET", method, allow)
		}
	}
}

// TestResultExpires: after its time a result is gone, though its event is kept.
func TestResultExpires(t *testing.T) {
	t.Parallel()
	s := start(t, "result-ttl=300ms")
	call := s.call(s.create("webhook.expires"), "text/plain", "hi").wantStatus(t, http.StatusOK)
	eventually(t, "the result to expire", func() bool {
		got := s.poll(call.header.Get("svc-result-correlationid"))
		if got.status == http.StatusOK {
			return false
		}
		got.wantProblem(t, http.StatusGone, "result-gone")
		return true
	})
	wantExactly(t, s.events(), []string{traceOf(call)})
}

// TestGuessingResults: callers who ask for many results that don't exist have
// to wait; those who ask for one that exists don't.
func TestGuessingResults(t *testing.T) {
	t.Parallel()
	s := start(t)
	call := s.call(s.create("webhook.guessed"), "text/plain", "hi")
	var refused answer
	for tries := 0; refused.status != http.StatusTooManyRequests; tries++ {
		if refused = s.poll(unknownToken); tries > 1000 {
			t.Fatal("guessing goes on for ever")
		}
	}
	refused.wantProblem(t, http.StatusTooManyRequests, "too-many-bad-ids")
	wantRetryAfter(t, refused)
	s.poll(call.header.Get("svc-result-correlationid")).wantStatus(t, http.StatusOK)
}
