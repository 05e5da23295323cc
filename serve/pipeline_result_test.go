package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestValueInTheAnswer: a short pipeline's final body is the value of the call's
// answer, and of the result afterwards.
func TestValueInTheAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.value", "payloadType", "raw")
	s.store("adds", `pipeline: [event.listen: {eventKey: webhook.value}, set: {value: {sum: '#{body.payload.a + body.payload.b}', count: '#{body.deliveryCount}', id: '#{body.correlationId}'}}]`)
	call := s.call(hook, "application/json", `{"a":1,"b":41}`)
	got := call.result(t)
	want := map[string]any{"sum": 42.0, "count": 1.0, "id": got.CorrelationID}
	if diff := cmp.Diff(want, got.Value); diff != "" || got.Status != "ok" || got.StatusCode != 200 {
		t.Errorf("the answer is %s (-want +got):\n%s", call.body, diff)
	}
	if polled := s.poll(got.CorrelationID).wantStatus(t, 200); string(polled.body) != string(call.body) {
		t.Errorf("the result is %s, want what the call was answered: %s", polled.body, call.body)
	}
	if call.header.Get("svc-result-correlationid") != got.CorrelationID || traceOf(call) != got.TraceID {
		t.Errorf("the headers are %v, want the ids of %s", call.header, call.body)
	}
	if call.header.Get("Retry-After") != "" {
		t.Error("an answer that is ready says when to come again")
	}

	t.Run("null is a value", func(t *testing.T) {
		s.store("adds", `pipeline: [event.listen: {eventKey: webhook.value}, set: {value: null}]`)
		if got := s.call(hook, "text/plain", "").result(t); got.Status != "ok" || got.Value != nil {
			t.Errorf("the result is %+v", got)
		}
	})
	t.Run("a deleted pipeline listens no more", func(t *testing.T) {
		s.send("DELETE", "/api/v3/pipeline/adds", nil, asAdmin).wantStatus(t, 200)
		got := s.call(hook, "text/plain", "").result(t)
		want := map[string]any{"status": "OK", "traceId": got.TraceID}
		if diff := cmp.Diff(any(want), got.Value); diff != "" {
			t.Errorf("the value is another one (-want +got):\n%s", diff)
		}
	})
}

// TestPayloadsInPipelines: a pipeline gets the payload in the form that the
// webhook says.
func TestPayloadsInPipelines(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.store("shows", `pipeline: [event.listen: {eventKey: 'webhook.payload.*'}, set: {value: ["#{body.payload}", "#{body.payloadEncoding}", "#{body.traceId == request.traceId}"]}]`)
	tests := []struct{ payloadType, contentType, body, want string }{
		{"base64", "application/json", `{"a":1}`, `[{"origin":"eyJhIjoxfQ=="},"base64",true]`},
		{"raw", "application/json", `{"a":12345678901234567890}`, `[{"a":12345678901234567890},"json",true]`},
		{"raw", "text/plain", `hällo`, `["hällo","text",true]`},
		{"raw", "text/plain", "\xff", `[{"origin":"/w=="},"base64",true]`},
		{"ignore", "application/json", `{"a":1}`, `[null,"none",true]`},
		{"raw", upload, filePart("text") + end, `[{"files":[{"contentType":"","encoding":"text","filename":"a","length":4,"origin":"text"}]},"files",true]`},
	}
	hooks := map[string]hook{}
	for _, test := range tests {
		if hooks[test.payloadType].UUID == "" {
			hooks[test.payloadType] = s.create("webhook.payload."+test.payloadType, "payloadType", test.payloadType)
		}
		got := s.call(hooks[test.payloadType], test.contentType, test.body).wantStatus(t, 200)
		if !strings.Contains(string(got.body), `"value":`+test.want) {
			t.Errorf("%s as %s: the answer is %s, want the value %s", test.body, test.payloadType, got.body, test.want)
		}
	}
}

// TestSeveralListeners: the value has that of each pipeline by its name; one that
// fails makes the whole an error.
func TestSeveralListeners(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.several", "payloadType", "raw")
	s.store("b.second", `pipeline: [event.listen: {eventKey: webhook.several}, set: {value: 2}]`)
	s.store("a-first", `pipeline: [event.listen: {eventKey: 'webhook.*'}, set: {value: [1]}]`)
	got := s.call(hook, "text/plain", "").result(t)
	if diff := cmp.Diff(any(map[string]any{"a-first": []any{1.0}, "b.second": 2.0}), got.Value); diff != "" || got.Status != "ok" {
		t.Errorf("the result is %+v (-want +got):\n%s", got, diff)
	}
	s.store("c", `pipeline: [event.listen: {eventKey: webhook.several}, fail: {message: no, statusCode: 418}]`)
	got = s.call(hook, "text/plain", "").result(t)
	if got.Status != "error" || got.StatusCode != 418 || got.Error["code"] != "pipeline-failed" || got.Error["detail"] != "no" {
		t.Errorf("the result is %+v, want the error of c", got)
	}
	if again := s.poll(got.CorrelationID).result(t); !cmp.Equal(got, again) {
		t.Errorf("the result is %+v, want %+v", again, got)
	}
}

// TestWhatCallersLearn: of a failure the caller of a webhook learns what the author
// says to callers, and nothing of the inside; a dead letter has it all.
func TestWhatCallersLearn(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.learns", "payloadType", "raw")
	s.command("secret.put", map[string]any{"name": "key", "value": "a secret value"}).wantStatus(t, 200)
	const neutral = "The call was taken, and could not be handled; the operator of the service finds the cause by the trace id."
	tests := []struct {
		step   string
		status float64
		detail string // for the caller
		code   string // inside
	}{
		{"fail: {message: No milk., statusCode: 422}", 422, "No milk.", "failed"},
		{"fail: {message: No milk.}", 500, "No milk.", "failed"},
		{"fail: {message: \"The key is #{secret('key')}.\"}", 500, "The key is ***.", "failed"},
		{"if: {true: true, then: [fail: {message: No milk., statusCode: 409}]}", 409, "No milk.", "failed"},
		{"assert: {true: false, message: There is no amount.}", 500, "There is no amount.", "assertion-failed"},
		{"assert: {true: false}", 500, neutral, "assertion-failed"},
		{"set: {value: '#{body.payload.inner.part}'}", 500, neutral, "expression-failed"},
		{"webhook.get: {}", 500, neutral, "forbidden"},
		{"set: {value: \"#{secret('nothing')}\"}", 500, neutral, "secret-unknown"},
	}
	for _, test := range tests {
		s.put("learns", "pipeline: [{event.listen: {eventKey: webhook.learns}}, {"+test.step+"}]", asAdmin, forced).wantStatus(t, 200)
		got := s.call(hook, "application/json", `{"inner": 1}`).result(t)
		want := map[string]any{
			"type": "urn:sluice:problem:pipeline-failed", "title": "The call could not be handled", "code": "pipeline-failed",
			"status": test.status, "statusCode": test.status, "detail": test.detail, "traceId": got.TraceID,
		}
		if diff := cmp.Diff(want, got.Error); diff != "" || got.Status != "error" || float64(got.StatusCode) != test.status {
			t.Errorf("%s: the result is %+v (-want +got):\n%s", test.step, got, diff)
		}
		if polled := s.poll(got.CorrelationID).result(t); !cmp.Equal(got, polled) {
			t.Errorf("%s: the result is %+v, want %+v", test.step, polled, got)
		}
		if cause := s.cause(t, got); cause["code"] != test.code || cause["line"] == nil {
			t.Errorf("%s: the dead letter has %v, want %s", test.step, cause, test.code)
		}
	}
}

// cause returns why a call failed, as its dead letter says: whoever has the result of
// a failure finds its letter.
func (s *service) cause(t *testing.T, of result) (found map[string]any) {
	t.Helper()
	var page struct{ Items []map[string]any }
	s.command("deadletter.get", map[string]any{"limit": 1000}).wantStatus(t, http.StatusOK).into(t, &page)
	for _, letter := range page.Items {
		if letter["correlationId"] == of.CorrelationID {
			return letter["error"].(map[string]any)
		}
	}
	t.Fatalf("there is no dead letter of %s", of.TraceID)
	return nil
}

// TestFailedRun: the event is a dead letter, and a replay reaches the pipeline as
// it is by then.
func TestFailedRun(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.failed", "payloadType", "raw")
	s.store("fails", "pipeline:\n- event.listen: {eventKey: webhook.failed}\n- fail: {id: here, message: No milk., statusCode: 422}\n")
	call := s.call(hook, "application/json", `{"n":1}`)
	got := call.result(t)
	if got.Status != "error" || got.StatusCode != 422 || got.Value != nil || !strings.Contains(string(call.body), `"value":null`) {
		t.Errorf("the answer is %s", call.body)
	}
	cause := s.cause(t, got)
	for field, want := range map[string]any{"status": 422.0, "statusCode": 422.0, "code": "failed", "traceId": got.TraceID,
		"detail": `Step 2, fail "here" (line 3): No milk.`} {
		if cause[field] != want {
			t.Errorf("%s of the error is %v, want %v", field, cause[field], want)
		}
	}
	if polled := s.poll(got.CorrelationID).result(t); !cmp.Equal(got, polled) {
		t.Errorf("the result is %+v, want %+v", polled, got)
	}

	letter := s.letters(t, "fails", 1)[0]
	for field, want := range map[string]any{"traceId": got.TraceID, "correlationId": got.CorrelationID, "eventKey": "webhook.failed", "attempts": 1.0, "event": nil} {
		if letter[field] != want {
			t.Errorf("%s of the letter is %v, want %v", field, letter[field], want)
		}
	}
	opened := s.command("deadletter.get", map[string]any{"letter": letter["letter"]}).wantStatus(t, 200)
	if !strings.Contains(string(opened.body), `"payload":{"n":1}`) {
		t.Errorf("the letter is %s, want the event in it", opened.body)
	}

	s.store("fails", `pipeline: [event.listen: {eventKey: webhook.failed}, set: {value: '#{body.payload.n + 1}'}]`)
	var replayed struct {
		Replayed int
		Items    []struct{ TraceID, CorrelationID string }
	}
	s.command("deadletter.replay", map[string]any{"letter": letter["letter"]}).wantStatus(t, 200).into(t, &replayed)
	if replayed.Replayed != 1 || len(replayed.Items) != 1 {
		t.Fatalf("replayed %+v", replayed)
	}
	item := replayed.Items[0]
	if item.TraceID == got.TraceID || item.CorrelationID == got.CorrelationID || item.TraceID[:7] != hook.last6()+":" {
		t.Errorf("the replay has the ids %+v, want new ones of the same webhook", item)
	}
	if again := s.await(t, item.CorrelationID); again.Value != 2.0 || again.TraceID != item.TraceID {
		t.Errorf("the replay came to %+v, want 2", again)
	}
	s.letters(t, "fails", 0)
	s.command("deadletter.replay", map[string]any{"letter": letter["letter"]}).wantProblem(t, 404, "letter-unknown")
	s.command("deadletter.replay", nil).wantProblem(t, 400, "parameter-invalid")
	if first := s.poll(got.CorrelationID).result(t); first.Status != "error" {
		t.Errorf("the replay has changed the first result to %+v", first)
	}
}

// TestReplayReachesOnlyWhoFailed: the other listeners don't see an event twice.
func TestReplayReachesOnlyWhoFailed(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	hook := s.create("webhook.some")
	s.store("well", listening("webhook.some", "http.request: {url: '"+o.url+"/well'}"))
	s.store("ill", listening("webhook.some", "http.request: {url: '"+o.url+"/ill'}", "fail: {message: no}"))
	s.call(hook, "text/plain", "").wantStatus(t, 200)
	s.letters(t, "ill", 1)
	var replayed struct {
		Items []struct{ CorrelationID string }
	}
	s.command("deadletter.replay", map[string]any{"pipeline": "ill"}).wantStatus(t, 200).into(t, &replayed)
	if again := s.await(t, replayed.Items[0].CorrelationID); again.Status != "error" || again.Value != nil {
		t.Errorf("the replay came to %+v, want the error of the one pipeline", again)
	}
	counts := map[string]int{}
	for _, call := range o.all() {
		counts[call.path]++
	}
	if counts["/well"] != 1 || counts["/ill"] != 2 {
		t.Errorf("the pipelines ran %v", counts)
	}
	s.letters(t, "ill", 1)
	deleted := s.command("deadletter.delete", map[string]any{"pipeline": "ill"}).wantStatus(t, 200).object(t)
	if deleted["deleted"] != 1.0 {
		t.Errorf("deleted %v letters, want 1", deleted["deleted"])
	}
}

// letters returns the dead letters of a pipeline, as many as there must be.
func (s *service) letters(t *testing.T, pipeline string, count int) []map[string]any {
	t.Helper()
	var page struct{ Items []map[string]any }
	s.command("deadletter.get", map[string]any{"pipeline": pipeline}).wantStatus(t, http.StatusOK).into(t, &page)
	if len(page.Items) != count {
		t.Fatalf("%s has %d dead letters, want %d", pipeline, len(page.Items), count)
	}
	return page.Items
}

// TestAbandonedEvents: who deletes a pipeline, or lets it listen to something
// else, gives up the events that wait for it; their results say so.
func TestAbandonedEvents(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "result-wait=1ms", "http-allow=127.0.0.0/8")
	hook := s.create("webhook.waits")
	s.store("slow", "concurrency: 1\n"+listening("webhook.waits", o.held()))
	begun := s.call(hook, "text/plain", "").result(t)
	o.next()
	waits := s.call(hook, "text/plain", "").result(t)
	stored := s.store("slow", "concurrency: 1\n"+listening("webhook.other", o.held())).object(t)
	if stored["warnings"] == nil {
		t.Errorf("storing answered %v, want a warning", stored)
	}
	got := s.await(t, waits.CorrelationID)
	if got.Status != "error" || got.StatusCode != 410 || got.Error["code"] != "pipeline-gone" {
		t.Errorf("the result is %+v, want that the pipeline has gone", got)
	}
	close(o.release)
	if got := s.await(t, begun.CorrelationID); got.Status != "ok" {
		t.Errorf("what had begun came to %+v", got)
	}
}
