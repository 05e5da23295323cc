package serve_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOnce: a target is called once, however often a later step fails and the server restarts. A
// replay calls it again, and an erased event leaves nothing of its reply.
func TestOnce(t *testing.T) {
	t.Parallel()
	out := newOutside(t)
	var paid, tried atomic.Int64
	var down atomic.Bool
	down.Store(true)
	out.answer = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/pay"):
			paid.Add(1)
			_, _ = w.Write([]byte("a-receipt"))
		case down.Load():
			tried.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	hook := s.create("webhook.once", "payloadType", "raw")
	s.store("once", "retry: {times: 100, backoff: 50ms, maxBackoff: 100ms}\n"+listening("webhook.once",
		"http.request: {url: '"+out.url+"/pay', expect: 2xx, once: true}",
		"set: {value: '#{body.body}', output: vars.receipt}",
		"http.request: {url: '"+out.url+"/ship', expect: 2xx}",
		"set: {value: '#{vars.receipt}'}"))
	called := s.call(hook, "text/plain", "x", func(r *http.Request) { r.URL.RawQuery = "pollingRedirectEnabled=true" }).wantStatus(t, 302)
	id, traceID := called.header.Get("svc-result-correlationid"), called.header.Get("svc-trace-id")
	eventually(t, "attempts", func() bool { return tried.Load() >= 2 })
	s.stop()
	s.resume()
	before := tried.Load()
	eventually(t, "attempts after a restart", func() bool { return tried.Load() > before })
	down.Store(false)
	eventually(t, "the end", func() bool {
		stats := s.command("server.stats", nil).wantStatus(t, 200).object(t)["pipelines"].([]any)
		return stats[0].(map[string]any)["waiting"] == 0.0
	})
	if got := s.look(id).result(t); got.Status != "ok" || got.Value != "a-receipt" {
		t.Errorf("it came to %+v", got)
	}
	if paid.Load() != 1 {
		t.Errorf("it was paid %d times", paid.Load())
	}
	trace := s.command("trace.get", map[string]any{"traceId": traceID}).wantStatus(t, 200)
	if !strings.Contains(string(trace.body), `"kept":true`) {
		t.Errorf("the trace is %s", trace.body)
	}
	s.command("event.replay", map[string]any{"traceId": traceID}).wantStatus(t, 200)
	eventually(t, "the replay", func() bool { return paid.Load() == 2 })
}
