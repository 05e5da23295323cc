package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/serve"
)

// A stream is what a live tail says.
type stream struct {
	response *http.Response
	lines    chan string
}

// follow opens a live tail.
func (s *service) follow(t *testing.T, query string, alterations ...func(*http.Request)) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", s.base()+"/api/v3/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	asAdmin(r)
	for _, alter := range alterations {
		alter(r)
	}
	transport := &http.Transport{}
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	out := &stream{response, make(chan string, 100_000)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(out.lines)
		for scanner := longLines(response.Body); scanner.Scan(); {
			out.lines <- scanner.Text()
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
		reading.Wait()
		transport.CloseIdleConnections()
	})
	return out
}

// next returns the next event of a stream.
func (s *stream) next(t *testing.T) (id, event, data string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				t.Fatal("the tail has ended")
			}
			name, value, _ := strings.Cut(line, ": ")
			switch {
			case line == "" && event != "":
				return id, event, data
			case name == "id":
				id = value
			case name == "event":
				event = value
			case name == "data":
				data = value
			}
		case <-deadline:
			t.Fatal("the tail says nothing")
		}
	}
}

// await reads a stream until it has told of all calls.
func (s *stream) await(t *testing.T, calls map[string]bool) {
	t.Helper()
	for len(calls) > 0 {
		_, event, data := s.next(t)
		var call trace
		if err := json.Unmarshal([]byte(data), &call); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if event == "call" {
			delete(calls, call.TraceID)
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	s := start(t)
	one, two := s.create("webhook.one"), s.create("webhook.two")
	all, ofOne := s.follow(t, ""), s.follow(t, "?eventKey=webhook.one")
	if got := all.response.Header.Get("Content-Type"); all.response.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("answered %d %s", all.response.StatusCode, got)
	}
	var ids, positions []string
	for i := range 6 {
		id := s.call([]hook{one, two}[i%2], "text/plain", "hi").wantStatus(t, 200).header.Get("svc-trace-id")
		ids = append(ids, id)
		position, event, data := all.next(t)
		if event != "call" || !strings.Contains(data, id) {
			t.Fatalf("told of %s %s, want a call %s", event, data, id)
		}
		positions = append(positions, position)
		if i%2 == 0 {
			if _, _, data := ofOne.next(t); !strings.Contains(data, id) {
				t.Errorf("the tail of one webhook tells of %s, want %s", data, id)
			}
		}
	}
	for _, resumed := range []*stream{s.follow(t, "", header("Last-Event-ID", positions[2])), s.follow(t, "?lastEventId="+positions[2])} {
		for i := 3; i < 6; i++ {
			if position, _, data := resumed.next(t); !strings.Contains(data, ids[i]) || position != positions[i] {
				t.Errorf("resumed, a tail tells of %s %s, want %s %s", position, data, positions[i], ids[i])
			}
		}
	}
	s.stop() // which doesn't wait for readers
	for range all.lines {
	}
}

func TestTailIsGuarded(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.role.put", map[string]any{"role": "caller", "permissions": "webhook.put"}).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "carl", "password": "correct horse 2", "roles": "caller"}).wantStatus(t, 200)
	s.send("GET", "/api/v3/events", nil).wantProblem(t, 401, "authorization-missing")
	s.send("GET", "/api/v3/events", nil, func(r *http.Request) { r.SetBasicAuth("carl", "correct horse 2") }).wantProblem(t, 403, "forbidden")
	s.send("POST", "/api/v3/events", nil, asAdmin).wantProblem(t, 405, "method-not-allowed")
	s.send("GET", "/api/v3/events?lastEventId=x", nil, asAdmin).wantProblem(t, 400, "position-invalid")
	s.send("GET", "/api/v3/events?eventkey=x", nil, asAdmin).wantProblem(t, 400, "parameter-unknown")
	for range 8 {
		s.follow(t, "")
	}
	s.send("GET", "/api/v3/events", nil, asAdmin).wantProblem(t, 429, "too-many-tails")
	asVera := s.user("vera", "trace.get")
	s.send("GET", "/api/v3/events?lastEventId=x", nil, asVera).wantProblem(t, 400, "position-invalid") // there is room for her
}

// TestSlowReader: what a reader has no room for is dropped and counted, and
// nobody else waits.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	s := startFor(t, serve.Timeouts{Write: never}) // a busy machine takes longer than a reader may pause
	busy, calm := s.create("webhook.busy"), s.create("webhook.calm")
	s.store("long", "pipeline:\n- event.listen: {eventKey: webhook.busy}\n- foreach: {in: '#{1..480}', as: n, do: [{set: {value: 1}}]}\n")
	slow, err := net.Dial("tcp", s.server.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if err := slow.(*net.TCPConn).SetReadBuffer(512 << 10); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(slow, request("GET /api/v3/events HTTP/1.1", "Host: sluice", "Authorization: "+basic("admin", adminPassword)))
	if err != nil {
		t.Fatal(err)
	}
	reading := s.follow(t, "?traceId="+calm.last6())
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 75 {
				s.call(busy, "text/plain", "hi").wantStatus(t, 200)
			}
		})
	}
	running.Wait()
	eventually(t, "all have run", func() bool {
		var found struct{ Items []trace }
		s.command("trace.get", map[string]any{"eventKey": "webhook.busy", "status": "processing"}).wantStatus(t, 200).into(t, &found)
		return len(found.Items) == 0
	})
	for range 8 { // each takes a moment: more than the patience for the slow one in all
		id := s.call(calm, "text/plain", "hi").wantStatus(t, 200).header.Get("svc-trace-id")
		reading.await(t, map[string]bool{id: true})
	}
	if err := slow.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	dropped := regexp.MustCompile(`^data: \{"count":[1-9]\d*\}$`)
	for scanner := longLines(slow); scanner.Scan(); {
		if dropped.MatchString(scanner.Text()) {
			return
		}
	}
	t.Error("a reader that does not read is not told of what it missed")
}

// longLines reads lines that may be long.
func longLines(r io.Reader) *bufio.Scanner {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	return scanner
}
