package serve_test

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice"
)

// try tries a draft on past events; the query comes as name, value, name, value.
func (s *service) try(as func(*http.Request), source string, query ...string) answer {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	return s.send("POST", "/api/v3/command/pipeline.try?"+values.Encode(), strings.NewReader(source), as, header("Content-Type", "application/yaml"))
}

// tried returns what trying a draft found.
func (a answer) tried(t *testing.T) (found sluice.TryResult) {
	t.Helper()
	a.wantStatus(t, 200).into(t, &found)
	return found
}

// counts returns the verdicts in short.
func counts(r sluice.TryResult) string {
	return fmt.Sprintf("%d same, %d differ, %d fail, %d unknown", r.Same, r.Differs, r.Fails, r.Unknown)
}

// TestADraftIsTried: on what happened, without doing it again.
func TestADraftIsTried(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	o.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/down" {
			w.WriteHeader(http.StatusBadGateway)
		}
		if r.URL.Path == "/long" {
			_, _ = w.Write([]byte(`"` + strings.Repeat("x", 10_000) + `"`))
			return
		}
		_, _ = fmt.Fprintf(w, `{"path":%q}`, r.URL.Path)
	}
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	s.command("secret.put", map[string]any{"name": "key", "value": "s3cret"}).wantStatus(t, 200)
	hook := s.create("webhook.order", "payloadType", "raw")
	s.store("inner", "pipeline:\n- http.request: {url: '"+o.url+"/inner', method: POST, body: '#{body}'}\n").wantStatus(t, 200)
	const listen = "pipeline:\n- event.listen: {eventKey: webhook.order}\n- iam.run.as: {username: admin}\n"
	request := func(path string) string {
		return "- http.request: {url: '" + o.url + path + "', method: POST, headers: {x-key: \"#{secret('key')}\"}, body: '#{body.payload}', expect: 2xx, output: vars.answer}\n"
	}
	stored := listen + "- if: {true: '#{body.payload.ok}', then: [wait: {duration: 1ms}], else: [fail: {message: No., statusCode: 422}]}\n" +
		request("/orders") + "- pipeline.run: {name: inner, input: '#{body.payload.n}', output: vars.inner}\n- set: {value: '#{vars.answer.body.path}#{body.payload.n}'}\n"
	s.store("orders", stored).wantStatus(t, 200)
	for n := range 3 {
		if got := s.call(hook, "application/json", fmt.Sprintf(`{"ok":true,"n":%d}`, n)).result(t); got.Value != fmt.Sprint("/orders", n) {
			t.Fatalf("it came to %+v", got)
		}
	}
	s.call(hook, "application/json", `{"ok":false,"n":3}`).result(t)
	before := len(o.calls)

	tests := []struct {
		name, source, want string
		query              []string
		says               string // in the answer
	}{
		{"as it is stored", stored, "4 same, 0 differ, 0 fail, 0 unknown", []string{"pipeline", "orders"}, ""},
		{"by the key it listens to", stored, "4 same, 0 differ, 0 fail, 0 unknown", nil, ""},
		{"the newest", stored, "2 same, 0 differ, 0 fail, 0 unknown", []string{"eventKey", "webhook.order", "limit", "2"}, `"next":"`},
		{"none of that time", stored, "0 same, 0 differ, 0 fail, 0 unknown", []string{"to", "2020-01-01T00:00:00Z"}, `"items":[]`},
		{"with another value", strings.Replace(stored, "#{vars.answer.body.path}", "paid ", 1), "1 same, 3 differ, 0 fail, 0 unknown", nil,
			`"was":{"status":"ok","value":"/orders2"`},
		{"with another request", strings.Replace(stored, "body: '#{body.payload}'", "body: '#{body.payload.n}'", 1), "1 same, 3 differ, 0 fail, 0 unknown", nil, `x-key: ***`},
		{"with another request within", strings.Replace(stored, "input: '#{body.payload.n}'", "input: 7", 1), "1 same, 3 differ, 0 fail, 0 unknown", nil, ""},
		{"to another place", strings.Replace(stored, "/orders'", "/down'", 1), "1 same, 0 differ, 0 fail, 3 unknown", nil, "What http.request would have answered is not recorded"},
		{"failing", listen + "- assert: {true: '#{body.payload.n < 2}', message: 'n is #{body.payload.n}'}\n", "0 same, 2 differ, 2 fail, 0 unknown", nil, "n is 3"},
		{"failing as before", listen + "- fail: {message: Never., statusCode: 422, if: '#{!body.payload.ok}'}\n" + request("/orders"), "1 same, 3 differ, 0 fail, 0 unknown", nil, ""},
		{"without rights", strings.Replace(stored, "- iam.run.as: {username: admin}\n", "", 1), "1 same, 0 differ, 3 fail, 0 unknown", nil, "http.request"},
		{"with a stub", strings.Replace(stored, "/orders'", "/elsewhere'", 1) + "tests:\n- name: a\n  stub: {http.request: {statusCode: 200, body: {path: /stub}}}\n", "1 same, 3 differ, 0 fail, 0 unknown", nil, `"value":"/stub2"`},
		{"that asks for what is no URL", listen + "- http.request: {url: '#{body.payload.n}', onError: ignore}\n", "0 same, 4 differ, 0 fail, 0 unknown", nil, ""},
		{"that sends events", listen + "- event.send: {eventKey: webhook.sent, payload: \"#{secret('key')}\"}\n", "0 same, 0 differ, 0 fail, 4 unknown", nil, "event.send"},
		{"with a stub for events", listen + "- event.send: {eventKey: webhook.sent, payload: \"#{secret('key')}\"}\ntests:\n- {name: a, stub: {event.send: {traceId: x}}}\n", "0 same, 4 differ, 0 fail, 0 unknown", nil,
			`{\"eventKey\":\"webhook.sent\",\"payload\":\"***\"}`},
		{"that reads the event again", listen + "- event.receive: {eventKey: webhook.order}\n- iam.whoami\n- log: {message: seen}\n", "0 same, 4 differ, 0 fail, 0 unknown", nil, `"username":"admin"`},
		{"that reads others", listen + "- event.receive: {eventKey: webhook.other}\n", "0 same, 0 differ, 0 fail, 4 unknown", nil, "event.receive"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := s.try(asAdmin, test.source, test.query...)
			if found := counts(got.tried(t)); found != test.want {
				t.Errorf("%s, want %s: %s", found, test.want, got.body)
			}
			if !strings.Contains(string(got.body), test.says) || strings.Contains(string(got.body), "s3cret") {
				t.Errorf("the answer is %s, want %s", got.body, test.says)
			}
		})
	}
	if len(o.calls) != before {
		t.Errorf("%d calls were made", len(o.calls)-before)
	}
	if strings.Contains(s.log.String(), `"seen"`) {
		t.Error("it was logged")
	}
	if sent := s.traces("eventKey", "webhook.sent"); len(sent) > 0 {
		t.Errorf("events were sent: %v", sent)
	}
}

// TestWhatWasRecordedOnlyInPart: an answer that is not kept as a whole can't be
// given again; a failure can.
func TestWhatWasRecordedOnlyInPart(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	o.answer = func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			_, _ = w.Write([]byte(strings.Repeat("x", 10_000)))
		case "/bytes":
			_, _ = w.Write([]byte{0xff, 0xfe})
		case "/secret":
			_, _ = w.Write([]byte("it is s3cret"))
		case "/status":
			w.WriteHeader(http.StatusTeapot)
		case "/broken":
			panic(http.ErrAbortHandler)
		}
	}
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	s.command("secret.put", map[string]any{"name": "key", "value": "s3cret"}).wantStatus(t, 200)
	for path, want := range map[string]string{
		"long": "0 same, 0 differ, 0 fail, 1 unknown", "bytes": "0 same, 0 differ, 0 fail, 1 unknown", "secret": "0 same, 0 differ, 0 fail, 1 unknown",
		"status": "1 same, 0 differ, 0 fail, 0 unknown", "broken": "1 same, 0 differ, 0 fail, 0 unknown", "empty": "1 same, 0 differ, 0 fail, 0 unknown",
	} {
		hook := s.create("webhook." + path)
		source := "pipeline:\n- event.listen: {eventKey: webhook." + path + "}\n- iam.run.as: {username: admin}\n" +
			"- set: {value: \"#{secret('key')}\"}\n- http.forward: {url: '" + o.url + "/" + path + "'}\n"
		s.store(path, source).wantStatus(t, 200)
		s.call(hook, "text/plain", "x").result(t)
		if got := s.try(asAdmin, source, "pipeline", path); counts(got.tried(t)) != want {
			t.Errorf("%s: %s, want %s", path, got.body, want)
		}
	}
}

// TestARefusalStaysTheSame: what was refused and still is, is no difference.
func TestARefusalStaysTheSame(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.refused")
	for _, step := range []string{"http.request: {url: 'https://example.com'}", "event.send: {eventKey: webhook.other}", "iam.run.as: {username: nobody}"} {
		source := "pipeline:\n- event.listen: {eventKey: webhook.refused}\n- " + step + "\n"
		s.put("refused", source, asAdmin, forced).wantStatus(t, 200)
		s.call(hook, "text/plain", "x").result(t)
		if got := s.try(asAdmin, source, "limit", "1"); counts(got.tried(t)) != "1 same, 0 differ, 0 fail, 0 unknown" {
			t.Errorf("%s: %s", step, got.body)
		}
	}
}

// TestWhoTriesDrafts: only who may see payloads, which a draft could find out bit by bit.
func TestWhoTriesDrafts(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.private", "payloadType", "raw")
	const stored = "pipeline:\n- event.listen: {eventKey: webhook.private}\n- set: {value: '#{body.payload}'}\n"
	s.store("private", stored).wantStatus(t, 200)
	s.call(hook, "text/plain", "hush-hush").result(t)
	const draft = "pipeline:\n- event.listen: {eventKey: webhook.private}\n- fail: {message: '#{body.payload}'}\n"
	s.try(s.user("blind", "pipeline.try", "event.listen"), draft).wantProblem(t, 403, "forbidden")
	asKnowing := s.user("knowing", "pipeline.try", "event.listen", "trace.payload")
	if got := s.try(asKnowing, draft); strings.Count(string(got.body), "hush-hush") != 2 {
		t.Errorf("who may see payloads sees %s", got.body)
	}
	if seen := s.send("GET", "/api/v3/command/audit.get?command=pipeline.try", nil, asAdmin).wantStatus(t, 200); !strings.Contains(string(seen.body), `"username":"knowing"`) {
		t.Errorf("the audit log has %s", seen.body)
	}
	s.try(s.user("viewer-like", "pipeline.get"), draft).wantProblem(t, 403, "forbidden")
	s.try(s.user("deaf", "pipeline.try", "trace.payload"), draft).wantProblem(t, 403, "forbidden")
}

// TestBadTries: what can't be tried is refused with a reason.
func TestBadTries(t *testing.T) {
	t.Parallel()
	s := start(t)
	const draft = "pipeline: [set: {value: 1}]"
	for name, test := range map[string]struct {
		source, code string
		status       int
		query        []string
	}{
		"no events":                  {draft, "parameter-invalid", 400, nil},
		"a pattern":                  {"pipeline: [event.listen: {eventKey: 'a.*'}]", "parameter-invalid", 400, nil},
		"messages":                   {"pipeline: [message.receive: {key: 'a.b'}, set: {value: 1}]", "", 200, []string{"eventKey", "a.b"}},
		"a malformed key":            {draft, "parameter-invalid", 400, []string{"eventKey", "a b"}},
		"an unknown pipeline":        {draft, "pipeline-unknown", 404, []string{"pipeline", "nope"}},
		"no limit":                   {draft, "parameter-invalid", 400, []string{"eventKey", "a", "limit", "0"}},
		"too many":                   {draft, "parameter-invalid", 400, []string{"eventKey", "a", "limit", "1001"}},
		"a time backwards":           {draft, "parameter-invalid", 400, []string{"eventKey", "a", "from", "2026-01-02T00:00:00Z", "to", "2026-01-01T00:00:00Z"}},
		"a cursor of something else": {draft, "parameter-invalid", 400, []string{"eventKey", "a", "after", "x"}},
		"a mistake":                  {"pipeline: [nope]", "pipeline-invalid", 400, []string{"eventKey", "a"}},
		"nothing":                    {"", "parameter-missing", 400, []string{"eventKey", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.try(asAdmin, test.source, test.query...)
			if test.code == "" {
				got.wantStatus(t, test.status)
				return
			}
			got.wantProblem(t, test.status, test.code)
		})
	}
}

// TestTriesOnLargeEvents: they are in memory one after the other, and little of each
// is left. All of them together would take 130 MiB at least.
func TestTriesOnLargeEvents(t *testing.T) {
	const events, size = 24, 4 << 20
	s := start(t, untilDone)
	hook := s.create("webhook.large", "maxPayloadLength", size)
	body := strings.Repeat("x", size)
	for range events {
		s.call(hook, "text/plain", body).wantStatus(t, 200)
	}
	const draft = "pipeline:\n- event.listen: {eventKey: webhook.large}\n- set: {value: '#{body.payload.origin}', output: vars.x}\n- set: {value: '#{body.payload.origin}'}\n"
	before := liveHeap()
	most := make(chan int64)
	done := make(chan struct{})
	go func() { // while they are tried
		seen, lately := int64(0), make([]int64, 8)
		for {
			select {
			case <-done:
				most <- seen
				return
			case <-time.After(10 * time.Millisecond): // which the tries use
			}
			// What is made during a collection counts as in use, but not in the
			// next one. Where cores are busy, several in a row take long.
			lately = append(lately[1:], liveHeap())
			seen = max(seen, slices.Min(lately))
		}
	}()
	tried, after := 0, ""
	for {
		got := s.try(asAdmin, draft, "after", after).tried(t)
		for _, item := range got.Items {
			if len(item.WouldBe.Message) > 5<<10 || len(item.WouldBe.Value) > 5<<10 {
				t.Fatalf("%d bytes are shown", len(item.WouldBe.Value))
			}
		}
		tried += got.Tried()
		if after = got.Next; after == "" {
			break
		}
	}
	close(done)
	if tried != events {
		t.Errorf("it was tried on %d events, want %d", tried, events)
	}
	grown := <-most - before
	t.Logf("the heap has grown by up to %d MiB", grown>>20)
	if grown > 96<<20 {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
}

// liveHeap returns how much memory is in use, without what is garbage.
func liveHeap() int64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64())
}

// TestChangedSendsAreSeen: a draft that sends another event than the pipeline did differs from it.
func TestChangedSendsAreSeen(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.order", "payloadType", "raw")
	draft := func(eventKey, payload string) string {
		return "pipeline:\n- event.listen: {eventKey: webhook.order}\n- iam.run.as: {username: admin}\n" +
			"- event.send: {eventKey: " + eventKey + ", payload: '" + payload + "', output: vars.sent}\n" +
			"- message.send: {key: orders.seen, payload: '#{body.payload.n}', output: vars.seen}\n" +
			"- set: {value: '#{vars.sent.correlationId} #{vars.seen.traceId}'}\n"
	}
	s.store("orders", draft("orders.new", "#{body.payload}")).wantStatus(t, 200)
	s.call(hook, "application/json", `{"n":7}`).wantStatus(t, 200)
	for _, test := range []struct{ eventKey, payload, want string }{
		{"orders.new", "#{body.payload}", "1 same, 0 differ, 0 fail, 0 unknown"},
		{"orders.old", "#{body.payload}", "0 same, 1 differ, 0 fail, 0 unknown"},
		{"orders.new", "#{body.payload.n}", "0 same, 1 differ, 0 fail, 0 unknown"},
	} {
		found := s.try(asAdmin, draft(test.eventKey, test.payload), "pipeline", "orders").tried(t)
		if counts(found) != test.want {
			t.Errorf("%s with %s: %s, want %s", test.eventKey, test.payload, counts(found), test.want)
		}
		if found.Differs == 1 && found.Items[0].Was.Calls[0].Args != `{"eventKey":"orders.new","payload":{"n":7}}` {
			t.Errorf("the pipeline is said to have sent %+v", found.Items[0].Was.Calls)
		}
	}
}
