package portal_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// A stream is what a page hears.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

// follow opens the live stream, and returns when it is there.
func (v *visitor) follow(path string) *stream {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), "GET", v.s.base()+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		v.t.Fatalf("the stream is %d, %s", response.StatusCode, kind)
	}
	s := &stream{v.t, bufio.NewScanner(response.Body)}
	s.until(": following")
	return s
}

// until reads up to a line with a prefix, and reports whether there is one.
func (s *stream) until(beginning string) (line string, ok bool) {
	s.t.Helper()
	for s.lines.Scan() {
		if strings.HasPrefix(s.lines.Text(), beginning) {
			return s.lines.Text(), true
		}
	}
	return "", false
}

// TestLive: a page hears of the calls it is about, and of no others.
func TestLive(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})["uuid"].(string)
	b := s.command("webhook.put", map[string]any{"eventKey": "webhook.b"})["uuid"].(string)
	live := s.signedIn("admin", adminPassword).follow("/live?eventKey=webhook.b")
	s.call(a, "text/plain", "x")
	trace := s.call(b, "text/plain", "x")
	if line, _ := live.until("data: "); !strings.Contains(line, trace) {
		t.Errorf("it hears %s, want %s", line, trace)
	}
}

// TestLiveEndsWithTheSession: a user who has signed out gets nothing more.
func TestLiveEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	token := s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})["uuid"].(string)
	v := s.signedIn("admin", adminPassword)
	live := v.follow("/live")
	v.post("/signout").wants(t, http.StatusSeeOther)
	s.call(token, "text/plain", "x")
	if line, ok := live.until("data: "); ok {
		t.Errorf("it hears %s", line)
	}
}

// TestLiveEndsWithTheServer: an open page does not hold up a stop.
func TestLiveEndsWithTheServer(t *testing.T) {
	t.Parallel()
	s := start(t)
	live := s.signedIn("admin", adminPassword).follow("/live")
	s.stop() // fails the test if calls had to be cut off
	if line, ok := live.until("data: "); ok {
		t.Errorf("it hears %s", line)
	}
}
