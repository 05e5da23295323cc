package serve_test

import (
	"net/http"
	"testing"

	"sluice"
)

// TestFiguresOfTheLastRuns: what became of calls whose runs end during a stop is counted. A run that
// has sent something is judged after it has ended, and what a stop has no time for is counted by the next start.
func TestFiguresOfTheLastRuns(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "http-allow=127.0.0.0/8")
	h := s.create("webhook.last")
	s.store("last", "pipeline:\n- event.listen: {eventKey: webhook.last}\n- iam.run.as: {username: admin}\n"+
		"- event.send: {eventKey: part.ready}\n- "+o.held()+"\n").wantStatus(t, http.StatusOK)
	const calls = 3
	for range calls {
		s.call(h, "text/plain", "x").wantStatus(t, http.StatusOK)
		o.next()
	}
	server, stopped := s.server, make(chan error, 1)
	go func() { stopped <- server.Stop() }()
	eventually(t, "the stop", func() bool { return s.send(http.MethodGet, "/readyz", nil).status == http.StatusServiceUnavailable })
	close(o.release)
	if err := <-stopped; err != nil {
		t.Fatalf("stop: %v", err)
	}
	s.server = nil
	s.resume()
	eventually(t, "the calls to be counted", func() bool {
		var found []sluice.CallFigures
		s.command("webhook.stats", map[string]any{"eventKey": "webhook.last"}).wantStatus(t, http.StatusOK).into(t, &found)
		return len(found) == 1 && found[0] == sluice.CallFigures{Accepted: calls, OK: calls}
	})
}
