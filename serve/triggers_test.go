package serve_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sent is what event.send and message.send answer.
type sent struct{ EventKey, Key, TraceID, CorrelationID string }

func (s *service) sendEvent(key string, payload any) (got sent) {
	s.t.Helper()
	s.command("event.send", map[string]any{"eventKey": key, "payload": payload}).wantStatus(s.t, 200).into(s.t, &got)
	return got
}

func (s *service) sendMessage(key string) (got sent) {
	s.t.Helper()
	s.command("message.send", map[string]any{"key": key, "payload": 1}).wantStatus(s.t, 200).into(s.t, &got)
	return got
}

// TestPatterns: which keys start which pipelines, for events and messages.
func TestPatterns(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, trigger := range map[string]string{
		"event-exact":     "event.listen: {eventKey: a.b}",
		"event-key":       "event.listen: {key: a.b}",
		"event-star":      "event.listen: {eventKey: 'a.*'}",
		"event-inner":     "event.listen: {eventKey: 'a.*.c'}",
		"event-hash":      "event.listen: {eventKey: 'a.#'}",
		"event-all":       "event.listen: {eventKey: '#'}",
		"message-event":   "message.receive: {key: svc.event.a.b}",
		"message-events":  "message.receive: {key: 'svc.event.#'}",
		"message-stars":   "message.receive: {key: '*.*.a.b'}",
		"message-own":     "message.receive: {key: 'own.*'}",
		"message-unlike":  "message.receive: {key: a.b}",
		"message-all":     "message.receive: {key: '#'}",
		"without-trigger": "set: {value: 1}",
	} {
		s.store(name, "pipeline: [{"+trigger+"}, {set: {value: '#{body.payload}'}}]")
	}
	always := []string{"event-all", "message-all", "message-events"}
	tests := []struct {
		sent sent
		want []string
	}{
		{s.sendEvent("a", 1), append(always, "event-hash")},
		{s.sendEvent("a.b", 1), append(always, "event-exact", "event-hash", "event-key", "event-star", "message-event", "message-stars")},
		{s.sendEvent("a.b.c", 1), append(always, "event-hash", "event-inner")},
		{s.sendEvent("a.b.c.d", 1), append(always, "event-hash")},
		{s.sendEvent("b.a.b", 1), always},
		{s.sendEvent("A.b", 1), always},
		{s.sendMessage("svc.event.a"), append(always, "event-hash")},
		{s.sendMessage("own.x"), []string{"message-all", "message-own"}},
		{s.sendMessage("own.x.y"), []string{"message-all"}},
		{s.sendMessage("a.b"), []string{"message-all", "message-unlike"}},
		{s.sendMessage("svc.other.a.b"), []string{"message-all", "message-stars"}},
	}
	for _, test := range tests {
		got := s.await(t, test.sent.CorrelationID)
		started := []string{"message-all"} // where it is the only one, the value is its own
		if values, several := got.Value.(map[string]any); several {
			started = slices.Sorted(maps.Keys(values))
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(test.want)), started); diff != "" || got.Status != "ok" {
			t.Errorf("%+v came to %+v (-want +got):\n%s", test.sent, got, diff)
		}
	}
	for _, key := range []string{"", "a..b", "a.*", "a.#", "a b", strings.Repeat("a", 201)} {
		s.command("event.send", map[string]any{"eventKey": key}).wantStatus(t, 400)
		s.command("message.send", map[string]any{"key": key}).wantStatus(t, 400)
	}
	for _, pattern := range []string{"a.#.b", "a*", "#.a", "a..b", ""} {
		s.put("bad", "pipeline: [{event.listen: {eventKey: '"+pattern+"'}}]", asAdmin).wantProblem(t, 400, "pipeline-invalid")
	}
}

// TestMessagesOfPipelines: messages that pipelines send start others, with what
// they carry, and are no events.
func TestMessagesOfPipelines(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "http-allow=127.0.0.0/8")
	s.store("hears", strings.Replace(listening("", "http.request: {url: '"+o.url+"', method: POST, body: '#{body}'}"),
		"event.listen: {eventKey: ''}", "message.receive: {key: bus.leads}", 1))
	s.run(`pipeline: [message.send: {key: bus.leads, payload: {n: 1}}]`).wantStatus(t, 200)
	call := o.next()
	message := decode(t, []byte(call.body)).(map[string]any)
	if diff := cmp.Diff(map[string]any{"n": decode(t, []byte("1"))}, message["payload"]); diff != "" || message["key"] != "bus.leads" || message["eventKey"] != nil {
		t.Errorf("the message is %s", call.body)
	}
}

// TestEventReceive: which event a step gets.
func TestEventReceive(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	receive := func(params string) any {
		t.Helper()
		var event map[string]any
		s.run(`pipeline: [event.receive: {`+params+`}]`).wantStatus(t, 200).into(t, &event)
		if event == nil {
			return nil
		}
		return event["payload"]
	}
	if got := receive("eventKey: own.event"); got != nil {
		t.Errorf("without an event it got %v", got)
	}
	if got := receive("eventKey: own.event, timeout: 1ms"); got != nil {
		t.Errorf("without a next event it got %v", got)
	}
	s.store("own", listening("own.event", o.held(), "event.receive: {eventKey: own.event, timeout: 1ms}", "set: {value: '#{body.payload}'}"))
	first := s.sendEvent("own.event", "first")
	o.next()
	second := s.sendEvent("own.event", "second")
	o.next()
	close(o.release)
	if got := s.await(t, first.CorrelationID); got.Value != "first" {
		t.Errorf("the run of the first event got %v", got.Value)
	}
	if got := s.await(t, second.CorrelationID); got.Value != "second" {
		t.Errorf("the run of the second event got %v", got.Value)
	}
	if got := receive("eventKey: own.event"); got != "second" {
		t.Errorf("the newest event is %v", got)
	}
	if got := receive("key: own.event"); got != "second" {
		t.Errorf("by its other name the newest event is %v", got)
	}
	if got := receive("eventKey: own"); got != nil {
		t.Errorf("the event of another key is %v", got)
	}
	s.run(`pipeline: [event.receive: {eventKey: 'own.*'}]`).wantProblem(t, 400, "parameter-invalid")

	next := make(chan any, 1)
	go func() { next <- receive("eventKey: own.event, timeout: 50s") }()
	eventually(t, "the next event", func() bool { // it may not listen yet
		s.sendEvent("own.event", "third")
		select {
		case got := <-next:
			if got != "third" {
				t.Errorf("the next event is %v", got)
			}
			return true
		default:
			return false
		}
	})
	got := s.command("event.receive", map[string]any{"eventKey": "own.event"}).wantStatus(t, 200).object(t)
	if got["payload"] != "third" {
		t.Errorf("over HTTP the newest event is %v", got)
	}
}

// TestTriggersDoNothingByThemselves: callers are told so, and don't get null.
func TestTriggersDoNothingByThemselves(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("event.listen", map[string]any{"eventKey": "own.event"}).wantProblem(t, 400, "not-in-a-pipeline")
	s.command("message.receive", map[string]any{"key": "own.message"}).wantProblem(t, 400, "not-in-a-pipeline")
}

// TestEventsAreNotForEveryReader: a user who may only read sees no payloads, by
// no command; the permission event.receive is enough by itself.
func TestEventsAreNotForEveryReader(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.sendEvent("own.event", "private")
	s.command("iam.role.put", map[string]any{"role": "taker", "permissions": "event.receive"}).wantStatus(t, 200)
	s.command("iam.role.put", map[string]any{"role": "reader", "permissions": "read"}).wantStatus(t, 200)
	for role, status := range map[string]int{"viewer": 403, "reader": 403, "taker": 200, "developer": 200} {
		s.command("iam.user.put", map[string]any{"username": role, "password": "correct horse 2", "roles": role}).wantStatus(t, 200)
		as := func(r *http.Request) { r.SetBasicAuth(role, "correct horse 2") }
		got := s.send("GET", "/api/v3/command/event.receive?eventKey=own.event", nil, as).wantStatus(t, status)
		if role == "reader" && !strings.Contains(string(got.body), "trace.payload") {
			t.Errorf("the %s is told %s", role, got.body)
		}
	}
}

// TestChains: all that a call leads to has its trace id.
func TestChains(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.chain", "payloadType", "raw")
	s.store("helper", `pipeline: [message.send: {key: chain.message}]`)
	s.store("one", listening("webhook.chain", "event.send: {eventKey: chain.event, payload: '#{body.payload}'}"))
	s.store("two", listening("chain.event", "http.request: {url: '"+o.url+"/two', method: POST, body: '#{body.payload}'}", "pipeline.run: {name: helper}"))
	s.store("three", strings.Replace(listening("", "http.request: {url: '"+o.url+"/three', method: POST, body: '#{body.payload}'}"),
		"event.listen: {eventKey: ''}", "message.receive: {key: chain.message}", 1))
	call := s.call(hook, "application/json", `{"n":1}`).result(t)
	value := call.Value.(map[string]any)
	if value["traceId"] != call.TraceID || value["eventKey"] != "chain.event" || value["correlationId"] == call.CorrelationID {
		t.Errorf("event.send answered %v", value)
	}
	two := o.next()
	three := o.next()
	if two.path != "/two" || two.body != `{"n":1}` || three.path != "/three" {
		t.Errorf("the chain has led to %v and %v", two, three)
	}
	for _, c := range []inbound{two, three} {
		if got := c.header.Get("svc-trace-id"); got != call.TraceID {
			t.Errorf("%s was called with the trace id %q, want %q", c.path, got, call.TraceID)
		}
	}
	if got := s.await(t, value["correlationId"].(string)); got.TraceID != call.TraceID || got.Status != "ok" {
		t.Errorf("the result of the sent event is %+v", got)
	}
}

// eventualLetter waits for a dead letter of a pipeline.
func (s *service) eventualLetter(t *testing.T, pipeline string) map[string]any {
	t.Helper()
	var page struct{ Items []map[string]any }
	eventually(t, "a dead letter of "+pipeline, func() bool {
		s.command("deadletter.get", map[string]any{"pipeline": pipeline}).wantStatus(t, 200).into(t, &page)
		return len(page.Items) > 0
	})
	return page.Items[0]
}

// TestLoopsEnd: pipelines that start each other stop after 16 hops, in a dead
// letter.
func TestLoopsEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.store("ping", listening("loop.ping", "event.send: {eventKey: loop.pong, payload: '#{(body.payload ?? 0) + 1}'}"))
	s.store("pong", listening("loop.pong", "message.send: {key: svc.event.loop.ping, payload: '#{body.payload + 1}'}"))
	first := s.sendEvent("loop.ping", 0)
	letter := s.eventualLetter(t, "ping")
	if problem := letter["error"].(map[string]any); problem["code"] != "too-many-hops" || letter["traceId"] != first.TraceID || letter["pipeline"] != "ping" {
		t.Errorf("the letter is %v", letter)
	}
	opened := s.command("deadletter.get", map[string]any{"letter": letter["letter"]})
	if !strings.Contains(string(opened.body), `"payload":16`) {
		t.Errorf("the loop ended with %s, want the 16th event that followed", opened.body)
	}

	t.Run("of a pipeline that replays what started it", func(t *testing.T) {
		s.store("again", listening("loop.again", "event.replay: {traceId: '#{body.traceId}', rate: 1000, force: true}"))
		s.sendEvent("loop.again", 0)
		if letter := s.eventualLetter(t, "again"); letter["error"].(map[string]any)["code"] != "too-many-hops" {
			t.Errorf("the letter is %v", letter)
		}
	})
	t.Run("of pipelines that run each other", func(t *testing.T) {
		s.store("self", `pipeline: [pipeline.run: {name: self}]`)
		problem := s.send("POST", "/api/v3/pipeline/self", nil, asAdmin).wantProblem(t, 400, "too-many-hops")
		if detail := problem["detail"].(string); len(detail) > 2000 {
			t.Errorf("the detail has %d characters: %s", len(detail), detail)
		}
	})
}

// TestLoopsThroughHTTPEnd: a pipeline that calls its own webhook, or runs itself
// over HTTP, comes to an end as well.
func TestLoopsThroughHTTPEnd(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	hook := s.create("webhook.loop")
	s.store("loop", listening("webhook.loop",
		"http.request: {url: '"+o.url+"'}",
		"http.request: {url: '"+s.base()+receivePath+"', headers: {token: "+hook.UUID+", svc-hops: 0}}",
		"fail: {if: '#{body.statusCode >= 400}', message: '#{body.body.code}', statusCode: '#{body.statusCode}'}"))
	s.call(hook, "text/plain", "", header("svc-hops", "nonsense")).wantStatus(t, 200)
	var page struct{ Items []map[string]any }
	eventually(t, "the loop to end", func() bool {
		s.command("deadletter.get", nil).wantStatus(t, 200).into(t, &page)
		return len(page.Items) > 0
	})
	problem := page.Items[0]["error"].(map[string]any)
	if detail := problem["detail"].(string); problem["statusCode"] != 508.0 || !strings.HasSuffix(detail, "too-many-hops") {
		t.Errorf("the loop ended with %v", problem)
	}
	if runs := len(o.all()); runs != 17 {
		t.Errorf("there were %d runs, want 17", runs)
	}
	s.call(hook, "text/plain", "", header("svc-hops", "17")).wantProblem(t, 508, "too-many-hops")

	direct := newOutside(t)
	for given, want := range map[string]string{"": "1", "7": "8"} {
		s.send("POST", "/api/v3/command/http.request?url="+direct.url, nil, asAdmin, header("svc-hops", given)).wantStatus(t, 200)
		if got := direct.next().header.Get("svc-hops"); got != want {
			t.Errorf("http.request by itself turns %q hops into %q", given, got)
		}
	}
	s.send("POST", "/api/v3/command/http.request?url="+direct.url, nil, asAdmin, header("svc-hops", "17")).wantProblem(t, 508, "too-many-hops")

	s.command("secret.put", map[string]any{"name": "admin", "value": basic("admin", adminPassword)}).wantStatus(t, 200)
	s.store("self", "pipeline: [http.request: {url: '"+s.base()+"/api/v3/pipeline/self', method: POST, headers: {authorization: \"#{secret('admin')}\"}}, set: {value: '#{body.body}'}]")
	got := s.send("POST", "/api/v3/pipeline/self", nil, asAdmin).wantStatus(t, 200)
	if !strings.Contains(string(got.body), "too-many-hops") {
		t.Errorf("the loop ended with %s", got.body)
	}
}

// TestOrderIsKept: with concurrency 1 events are worked on in the order in which
// they came, one at a time.
func TestOrderIsKept(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	s.store("orderly", "concurrency: 1\n"+listening("in.order", "http.request: {url: '"+o.url+"/held/#{body.payload}'}"))
	var last sent
	for i := range 20 {
		last = s.sendEvent("in.order", i)
	}
	for i := range 20 {
		if call := o.next(); call.path != fmt.Sprintf("/held/%d", i) {
			t.Fatalf("run %d works on %s", i, call.path)
		}
		if len(o.arrived) > 0 {
			t.Fatal("two run at the same time")
		}
		o.release <- struct{}{}
	}
	if got := s.await(t, last.CorrelationID); got.Status != "ok" {
		t.Errorf("the last one came to %+v", got)
	}
}

// TestAcceptingNeverWaits: with every pipeline hanging, and more events waiting
// than may run, calls are answered processing.
func TestAcceptingNeverWaits(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "result-wait=10ms", "max-runs=4", "http-allow=127.0.0.0/8")
	hook := s.create("webhook.busy")
	for _, name := range []string{"one", "two", "three"} {
		s.store(name, listening("webhook.busy", o.held()))
	}
	var ids []string
	for range 40 {
		call := s.call(hook, "text/plain", "")
		wantRetryAfter(t, call)
		got := call.result(t)
		if got.Status != "processing" || got.Value != nil {
			t.Fatalf("a call is answered %s", call.body)
		}
		ids = append(ids, got.CorrelationID)
	}
	for range 4 {
		o.next()
	}
	s.run(`pipeline: [set: {value: 1}]`).wantProblem(t, 503, "too-many-runs")
	close(o.release)
	for _, id := range ids {
		if got := s.await(t, id); got.Status != "ok" {
			t.Fatalf("a call came to %+v", got)
		}
	}
	if runs := len(o.all()); runs != 3*40 {
		t.Errorf("there were %d runs, want %d", runs, 3*40)
	}
}
