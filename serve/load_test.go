package serve_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"sluice/serve"
)

// begin starts a call that stays in flight until its body of 2 bytes is sent:
// once it is told to continue, its handler runs.
func (s *service) begin(t *testing.T, h hook) *wire {
	t.Helper()
	w := s.dial(t)
	w.say(request("POST "+receivePath+" HTTP/1.1", "Host: sluice", "Token: "+h.UUID, "Expect: 100-continue", "Content-Length: 2"))
	w.hear(http.MethodPost).wantStatus(t, http.StatusContinue)
	return w
}

// TestTooManyCallsInFlight: a call beyond the bound is told at once to come
// again; health is told nevertheless.
func TestTooManyCallsInFlight(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "max-in-flight=1", "result-wait=1m", "http-allow=127.0.0.0/8")
	hook, slowHook := s.create("webhook.busy"), s.create("webhook.slow")
	s.store("slow", listening("webhook.slow", o.held()))
	unfinished := s.begin(t, hook) // takes no place before its body is here
	slow := s.dial(t)
	slow.say(request("POST "+receivePath+" HTTP/1.1", "Host: sluice", "Token: "+slowHook.UUID, "Content-Length: 0"))
	o.next()

	refused := s.call(hook, "text/plain", "second")
	refused.wantProblem(t, http.StatusServiceUnavailable, "overloaded")
	wantRetryAfter(t, refused)
	s.send("GET", "/healthz", nil).wantStatus(t, http.StatusOK)
	s.send("GET", "/readyz", nil).wantStatus(t, http.StatusOK)
	eventually(t, "the refusal in the metrics", func() bool { return s.metric(`sluice_calls_total{status="503"}`) == "1" })

	close(o.release)
	inFlight := slow.hear(http.MethodPost).wantStatus(t, http.StatusOK)
	unfinished.say("hi")
	begun := unfinished.hear(http.MethodPost).wantStatus(t, http.StatusOK)
	s.wantRefusals(t, hook, "overloaded", 1)
	wantExactly(t, s.events(), []string{traceOf(inFlight), traceOf(begun)})
}

// wantRefusals checks how many calls of a webhook are found that were refused for a reason.
func (s *service) wantRefusals(t *testing.T, h hook, code string, count int) {
	t.Helper()
	var page struct {
		Items []struct {
			Code       string `json:"code"`
			StatusCode int    `json:"statusCode"`
		} `json:"items"`
	}
	s.command("trace.get", map[string]any{"traceId": h.last6(), "status": "rejected"}).wantStatus(t, http.StatusOK).into(t, &page)
	if len(page.Items) != count || page.Items[0].Code != code || page.Items[0].StatusCode != http.StatusServiceUnavailable {
		t.Errorf("of rejected calls are found %+v, want %d with the code %s", page.Items, count, code)
	}
}

// TestTooManyConnectionsOfOneClient: those beyond the bound are closed, and
// there is room again when one ends.
func TestTooManyConnectionsOfOneClient(t *testing.T) {
	t.Parallel()
	s := start(t, "max-connections-per-address=2")
	first, second := s.dial(t), s.dial(t)
	first.wantOpen()
	second.wantOpen()
	s.dial(t).wantClosed()

	_ = first.Close()
	second.wantOpen()
	eventually(t, "room for another connection", func() bool {
		w := s.dial(t)
		w.say(request("GET /healthz HTTP/1.1", "Host: sluice"))
		_, err := http.ReadResponse(w.reader, nil)
		return err == nil
	})
}

// TestConnectionsOfATrustedProxy: a proxy carries many clients, so the bound on
// one client is not for it.
func TestConnectionsOfATrustedProxy(t *testing.T) {
	t.Parallel()
	s := start(t, "max-connections-per-address=1", "trusted-proxies=127.0.0.0/8")
	first, second := s.dial(t), s.dial(t)
	first.wantOpen()
	second.wantOpen()
}

// TestTooManyConnections: those beyond the bound in all wait for their turn.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	s := start(t, "max-connections=1")
	first, second := s.dial(t), s.dial(t)
	first.wantOpen()
	second.say(request("GET /healthz HTTP/1.1", "Host: sluice"))
	first.wantOpen()
	_ = first.Close()
	second.hear(http.MethodGet).wantStatus(t, http.StatusOK)
}

// TestIdleConnections: an idle connection is closed after a while.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	s := startFor(t, serve.Timeouts{Idle: 2 * time.Second}) // enough to be used before, also if the machine is busy
	w := s.dial(t)
	w.wantOpen()
	w.wantClosed()
}

// wantRetryAfter checks that an answer says in how many seconds to come again.
func wantRetryAfter(t *testing.T, a answer) {
	t.Helper()
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		t.Errorf("Retry-After is %q, want a number of seconds", a.header.Get("Retry-After"))
	}
}

// traceOf returns the trace id of a call from its answer.
func traceOf(a answer) string { return a.header.Get("Svc-Trace-Id") }
