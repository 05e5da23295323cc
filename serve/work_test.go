package serve_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// worker offers one item through a pipeline, and returns the ids of its call.
func (s *service) offer(t *testing.T, hook hook, payload string) (correlationID, traceID string) {
	t.Helper()
	called := s.call(hook, "application/json", payload, func(r *http.Request) { r.URL.RawQuery = "pollingRedirectEnabled=true" }).wantStatus(t, 302)
	return called.header.Get("svc-result-correlationid"), called.header.Get("svc-trace-id")
}

// take takes work, and returns it.
func (s *service) take(t *testing.T, queue string, more ...any) []map[string]any {
	t.Helper()
	params := map[string]any{"queue": queue, "wait": "20s"}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	var list struct{ Items []map[string]any }
	s.command("work.take", params).wantStatus(t, 200).into(t, &list)
	return list.Items
}

const scanning = "- work: {queue: scan, within: 1h, input: '#{body.payload}'}\n- set: {value: {scanned: '#{body}'}}\n"

// TestWork: somebody outside does a step. The caller polls for their answer, also if the server
// restarts meanwhile.
func TestWork(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	hook := s.create("webhook.job", "payloadType", "raw")
	s.store("scan", "pipeline:\n- event.listen: {eventKey: webhook.job}\n"+scanning)
	id, traceID := s.offer(t, hook, `{"n":1}`)
	items := s.take(t, "scan")
	if len(items) != 1 || toText(t, items[0]["input"]) != `{"n":1}` || items[0]["traceId"] != traceID || items[0]["pipeline"] != "scan" || items[0]["eventKey"] != "webhook.job" || items[0]["attempt"] != 1.0 || items[0]["until"] == nil || items[0]["expires"] == nil || items[0]["queue"] != "scan" {
		t.Fatalf("the work is %v", items)
	}
	if got := s.look(id).result(t); got.Status != "processing" {
		t.Errorf("meanwhile it comes to %+v", got)
	}
	if again := s.take(t, "scan", "wait", "0s"); len(again) != 0 {
		t.Errorf("it has two takers: %v", again)
	}
	s.stop()
	s.resume()
	queues := s.command("work.queues", nil).wantStatus(t, 200)
	if !strings.Contains(string(queues.body), `{"queue":"scan","waiting":0,"taken":1,`) {
		t.Errorf("the queues are %s", queues.body)
	}
	got := s.command("work.get", map[string]any{"queue": "scan"}).wantStatus(t, 200)
	if text := string(got.body); !strings.Contains(text, `"taker":"admin"`) || strings.Contains(text, "lease") || strings.Contains(text, `"n"`) {
		t.Errorf("the queue has %s", text)
	}
	done := map[string]any{"lease": items[0]["lease"], "value": map[string]any{"virus": false}}
	s.command("work.extend", map[string]any{"lease": items[0]["lease"], "for": "1h"}).wantStatus(t, 200)
	s.command("work.done", done).wantStatus(t, 200)
	s.command("work.done", done).wantStatus(t, 200)
	result := s.send("GET", resultPath+"?pollingRedirectEnabled=true&svc-result-correlationid="+id, nil)
	for result.status == http.StatusFound {
		result = s.send("GET", resultPath+"?pollingRedirectEnabled=true&svc-result-correlationid="+id, nil)
	}
	if text := toText(t, result.result(t).Value); text != `{"scanned":{"virus":false}}` {
		t.Errorf("it comes to %s", text)
	}
	s.command("work.done", done).wantStatus(t, 200)
	s.command("work.extend", map[string]any{"lease": items[0]["lease"], "for": "1h"}).wantStatus(t, 410)
	trace := s.command("trace.get", map[string]any{"traceId": traceID}).wantStatus(t, 200)
	if !strings.Contains(string(trace.body), `"attempt":1,"delivery":2`) {
		t.Errorf("the trace is %s", trace.body)
	}
	s.stop()
	s.resume()
	s.command("work.done", done).wantStatus(t, 200)
	done["lease"] = items[0]["lease"].(string) + "x"
	s.command("work.done", done).wantStatus(t, 410)
}

// TestAnAnswerOutlivesARestart: an answer that comes while the pipeline is paused is found by the next process.
// Otherwise the event would wait until the work is over.
func TestAnAnswerOutlivesARestart(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	hook := s.create("webhook.job")
	s.store("scan", "pipeline:\n- event.listen: {eventKey: webhook.job}\n"+scanning)
	id, _ := s.offer(t, hook, "1")
	item := s.take(t, "scan")[0]
	s.command("pipeline.pause", map[string]any{"name": "scan"}).wantStatus(t, 200)
	s.command("work.done", map[string]any{"lease": item["lease"], "value": "clean"}).wantStatus(t, 200)
	s.stop()
	s.resume()
	s.command("pipeline.resume", map[string]any{"name": "scan"}).wantStatus(t, 200)
	eventually(t, "the event to go on with the answer", func() bool {
		result := s.send("GET", resultPath+"?pollingRedirectEnabled=true&svc-result-correlationid="+id, nil)
		return result.status == http.StatusOK && toText(t, result.result(t).Value) == `{"scanned":"clean"}`
	})
}

// TestWorkIsAnsweredOnce: the same answer again is none, another one is refused, also when the event is done and
// after a restart. Who has nothing to do with the queue, is refused at any time.
func TestWorkIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	stranger := s.member("stranger", "other", "support")
	s.store("ours", "pipeline:\n- event.listen: {eventKey: webhook.ours}\n- work: {queue: ours}\n")
	id, _ := s.offer(t, s.create("webhook.ours"), "1")
	lease := s.take(t, "ours")[0]["lease"]
	say := func(name string, status int, code string, more ...any) {
		t.Helper()
		params := map[string]any{"lease": lease}
		for i := 0; i < len(more); i += 2 {
			params[more[i].(string)] = more[i+1]
		}
		got := s.command(name, params).wantStatus(t, status)
		if code != "" && got.object(t)["code"] != code {
			t.Errorf("%s is answered %s", name, got.body)
		}
		if theirs := s.command(name, params, stranger); theirs.status != 403 && (status != 410 || theirs.status != 410) {
			t.Errorf("a stranger's %s is answered %s", name, theirs.body)
		}
	}
	check := func() {
		t.Helper()
		say("work.done", 200, "", "value", map[string]any{"a": 1, "b": 2})
		say("work.done", 410, "lease-over", "value", 2)
		say("work.fail", 410, "lease-over")
		say("work.fail", 410, "lease-over", "statusCode", 503)
		say("work.extend", 410, "lease-over", "for", "1m")
	}
	s.command("pipeline.pause", map[string]any{"name": "ours"}).wantStatus(t, 200)
	say("work.extend", 200, "", "for", "1m")
	check()
	s.stop()
	s.resume()
	check()
	s.command("pipeline.resume", map[string]any{"name": "ours"}).wantStatus(t, 200)
	eventually(t, "the event to be done", func() bool {
		polled := s.held(t.Context(), id)
		return polled.status == http.StatusOK && polled.result(t).Status == "ok"
	})
	check()
	s.stop()
	s.resume()
	check()
}

// TestWorkThatFails: what a worker says, and what becomes of it.
func TestWorkThatFails(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	hook := s.create("webhook.fails", "payloadType", "raw")
	s.store("fails", "retry: {times: 3, backoff: 10ms}\npipeline:\n- event.listen: {eventKey: webhook.fails}\n"+
		"- work: {queue: fails, within: '#{body.payload.within ?? \"1h\"}'}\n")
	s.offer(t, hook, `{}`)
	first := s.take(t, "fails")[0]
	s.command("work.fail", map[string]any{"lease": first["lease"], "statusCode": 503, "message": "later", "retryAfter": "10ms"}).wantStatus(t, 200)
	second := s.take(t, "fails", "lease", "1s")[0]
	third := s.take(t, "fails")[0] // when that lease is over
	if second["attempt"] != 2.0 || third["attempt"] != 3.0 {
		t.Errorf("it was taken as %v and as %v", second, third)
	}
	for _, over := range []any{first["lease"], second["lease"]} {
		if got := s.command("work.done", map[string]any{"lease": over, "value": 1}).wantStatus(t, 410).object(t); got["code"] != "lease-over" {
			t.Errorf("a lease that is over is %v", got)
		}
	}
	s.command("work.fail", map[string]any{"lease": third["lease"], "message": "no such file s3cret", "statusCode": 404}).wantStatus(t, 200)
	s.offer(t, hook, `{"within":"1s"}`)
	var codes []string
	eventually(t, "two dead letters", func() bool {
		var letters struct {
			Items []struct {
				Error    struct{ Code, Detail string }
				Attempts int
			}
		}
		s.command("deadletter.get", map[string]any{"pipeline": "fails"}).wantStatus(t, 200).into(t, &letters)
		codes = nil
		for _, l := range letters.Items {
			codes = append(codes, fmt.Sprint(l.Error.Code, " ", l.Attempts, " ", strings.Contains(l.Error.Detail, "no such file")))
		}
		return len(codes) == 2
	})
	if got := strings.Join(codes, " "); got != "work-expired 1 false work-failed 1 true" {
		t.Errorf("the dead letters are %s", got)
	}
	if left := s.take(t, "fails", "wait", "0s"); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// TestManyWorkers: each item is one worker's, and all are done. Some workers die with their items.
func TestManyWorkers(t *testing.T) {
	t.Parallel()
	const items, workers = 60, 6
	s := start(t, "result-wait=1ms")
	hook := s.create("webhook.many", "payloadType", "raw")
	s.store("many", "concurrency: 4\npipeline:\n- event.listen: {eventKey: webhook.many}\n- work: {queue: many, input: '#{body.payload.n}'}\n")
	var mu sync.Mutex
	done := map[any]int{}
	allDone := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(done) == items
	}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for abandoned := false; !allDone(); {
				for _, item := range s.take(t, "many", "limit", 5, "lease", "2s", "wait", "1s") {
					if !abandoned {
						abandoned = true
						continue
					}
					answer := s.command("work.done", map[string]any{"lease": item["lease"], "value": item["input"]})
					mu.Lock()
					if answer.status == 200 {
						done[item["input"]]++
					}
					mu.Unlock()
				}
			}
		})
	}
	for n := range items {
		s.call(hook, "application/json", fmt.Sprintf(`{"n":%d}`, n)).wantStatus(t, 200)
	}
	working.Wait()
	for n, times := range done {
		if times != 1 {
			t.Errorf("%v was done %d times", n, times)
		}
	}
	eventually(t, "nothing to wait", func() bool {
		stats := s.command("server.stats", nil).wantStatus(t, 200).object(t)["pipelines"].([]any)
		return stats[0].(map[string]any)["waiting"] == 0.0
	})
	if len(done) != items {
		t.Errorf("%d of %d are done", len(done), items)
	}
}

// TestWorkIsBounded: what is refused, and who may do it.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, bad := range []struct {
		command, parameter string
		params             map[string]any
	}{
		{"work.take", "queue", map[string]any{"queue": "A b"}},
		{"work.take", "limit", map[string]any{"queue": "a", "limit": 101}},
		{"work.take", "limit", map[string]any{"queue": "a", "limit": -1}},
		{"work.take", "lease", map[string]any{"queue": "a", "lease": "999ms"}},
		{"work.take", "lease", map[string]any{"queue": "a", "lease": "12h1s"}},
		{"work.take", "wait", map[string]any{"queue": "a", "wait": "31s"}},
		{"work.take", "wait", map[string]any{"queue": "a", "wait": "-1s"}},
		{"work.get", "queue", map[string]any{"queue": ".."}},
		{"work.get", "limit", map[string]any{"queue": "a", "limit": 1001}},
		{"work.extend", "for", map[string]any{"lease": "a.b.c.d", "for": "13h"}},
		{"work.extend", "for", map[string]any{"lease": "a.b.c.d"}},
		{"work.fail", "statusCode", map[string]any{"lease": "a.b.c.d", "statusCode": 200}},
		{"work.fail", "retryAfter", map[string]any{"lease": "a.b.c.d", "statusCode": 503, "retryAfter": "169h"}},
		{"work.done", "lease", map[string]any{"value": 1}},
	} {
		if got := s.command(bad.command, bad.params).wantStatus(t, 400).object(t); got["parameter"] != bad.parameter {
			t.Errorf("%s %v: %v", bad.command, bad.params, got)
		}
	}
	for _, lease := range []string{"", "x", "a.b.c.d", "*.*.*.x", "a.>.c.d", "...", " . . .x", strings.Repeat("x", 10000)} {
		for _, name := range []string{"work.done", "work.fail"} {
			if got := s.command(name, map[string]any{"lease": lease}); got.status != 410 && (got.status != 400 || lease != "") {
				t.Errorf("%s of the lease %.20q is answered %d: %s", name, lease, got.status, got.body)
			}
		}
	}
	s.command("work.done", map[string]any{"lease": "a.b.c.d", "value": strings.Repeat("x", 1<<20)}).wantStatus(t, 413)
	for _, params := range []string{"queue: 'A b'", "queue: a, within: 169h"} { // told when it is stored
		source := "pipeline:\n- event.listen: {eventKey: webhook.a}\n- work: {" + params + "}\n"
		got := s.send("POST", "/api/v3/command/pipeline.put?name=bad", strings.NewReader(source), asAdmin).wantStatus(t, 400).object(t)
		if got["code"] != "pipeline-invalid" || got["line"] != 3.0 || got["column"] == nil {
			t.Errorf("%s is answered %v", params, got)
		}
	}
	for source, code := range map[string]string{
		"pipeline: [work: {queue: 'A b'}]":           "",
		"pipeline: [work: {queue: a, within: 169h}]": "",
		"pipeline: [work: {queue: a}]":               "no-event",
	} {
		got := s.send("POST", "/api/v3/command/pipeline.run?source="+url.QueryEscape(source), nil, asAdmin)
		if got.status != 400 || code != "" && got.object(t)["code"] != code {
			t.Errorf("%s is answered %d: %s", source, got.status, got.body)
		}
	}
}

// TestWorkersThatWaitHaveAShare: a user of whose calls many wait is told to come again, and others wait beside them.
// What is there is given to anybody.
func TestWorkersThatWaitHaveAShare(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	member := s.member("member", "", "support")
	s.store("scan", "pipeline:\n- event.listen: {eventKey: webhook.job}\n"+scanning)
	ctx, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer stop()
	for range 128 {
		waiting.Go(func() {
			for ctx.Err() == nil { // one may be refused while brief is asked
				r, err := http.NewRequestWithContext(
					ctx, "POST", s.base()+"/api/v3/command/work.take?queue=scanned&wait=30s", nil)
				if err != nil {
					panic(err)
				}
				asAdmin(r)
				if answer, err := s.client.Do(r); err == nil {
					answer.Body.Close()
				}
			}
		})
	}
	brief := map[string]any{"queue": "scan", "wait": "1ms"}
	eventually(t, "all to wait", func() bool { return s.command("work.take", brief).status != 200 })
	got := s.command("work.take", brief)
	if got.wantProblem(t, 429, "too-many-calls"); got.header.Get("Retry-After") != "2" {
		t.Errorf("one more is told to come again after %q", got.header.Get("Retry-After"))
	}
	s.command("work.take", brief, member).wantStatus(t, 200)
	s.offer(t, s.create("webhook.job"), "1")
	eventually(t, "the work", func() bool {
		return strings.Contains(string(s.command("work.queues", nil).wantStatus(t, 200).body), `"queue":"scan"`)
	})
	if items := s.take(t, "scan"); len(items) != 1 {
		t.Errorf("what is there is not given: %v", items)
	}
}

// TestWorkIsPutOffWithinItsTime: it is offered again before it is over, and then nobody has it.
func TestWorkIsPutOffWithinItsTime(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=1ms")
	s.store("scan", "pipeline:\n- event.listen: {eventKey: webhook.job}\n"+scanning)
	s.offer(t, s.create("webhook.job"), "1")
	item := s.take(t, "scan")[0]
	s.command("work.fail", map[string]any{"lease": item["lease"], "statusCode": 503, "retryAfter": "168h"}).wantStatus(t, 200)
	var list struct{ Items []map[string]any }
	s.command("work.get", map[string]any{"queue": "scan"}).wantStatus(t, 200).into(t, &list)
	if got := list.Items[0]; got["expires"] != item["until"] || got["taker"] != nil {
		t.Errorf("it is %v, and was over at %v", got, item["until"])
	}
}
