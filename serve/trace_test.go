package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
)

// A trace is a call as trace.get shows it.
type trace struct {
	TraceID       string    `json:"traceId"`
	CorrelationID string    `json:"correlationId"`
	EventKey      string    `json:"eventKey"`
	Type          string    `json:"type"`
	ReplayOf      string    `json:"replayOf"`
	Time          time.Time `json:"time"`
	Status        string    `json:"status"`
	StatusCode    int       `json:"statusCode"`
	Code          string    `json:"code"`
	Size          int       `json:"size"`
	Duration      float64   `json:"duration"`

	DeliveryID string        `json:"deliveryId"`
	AdmittedOf string        `json:"admittedOf"`
	Erased     bool          `json:"erased"`
	Batch      *sluice.Item  `json:"batch"`
	Split      *sluice.Split `json:"split"`

	Runs []struct {
		Pipeline string         `json:"pipeline"`
		EventKey string         `json:"eventKey"`
		Status   string         `json:"status"`
		By       string         `json:"by"`
		Attempt  int            `json:"attempt"`
		Error    map[string]any `json:"error"`
		Steps    []struct {
			Command string `json:"command"`
			Status  string `json:"status"`
		} `json:"steps"`
	} `json:"runs"`

	Payload     json.RawMessage   `json:"payload"`
	ContentType string            `json:"contentType"`
	Method      string            `json:"method"`
	Headers     map[string]string `json:"headers"`
	Result      map[string]any    `json:"result"`
}

// traces returns all that trace.get finds; parameters come as name, value.
func (s *service) traces(parameters ...string) (all []trace) {
	s.t.Helper()
	query := url.Values{"limit": {"300"}}
	for i := 0; i+1 < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	for {
		var page struct {
			Items []trace `json:"items"`
			Next  string  `json:"next"`
		}
		s.send("GET", "/api/v3/command/trace.get?"+query.Encode(), nil, asAdmin).wantStatus(s.t, http.StatusOK).into(s.t, &page)
		all = append(all, page.Items...)
		if page.Next == "" {
			return all
		}
		query.Set("after", page.Next)
	}
}

// trace returns the one call with a trace id.
func (s *service) trace(id string) trace {
	s.t.Helper()
	found := s.traces("traceId", id)
	if len(found) != 1 {
		s.t.Fatalf("%s is found %d times", id, len(found))
	}
	return found[0]
}

// A made call is what its caller knows of it.
type made struct {
	traceID string // empty where the answer has none
	status  int
	want    string // what trace.get is to say of it
	code    string
}

// callers makes calls of all kinds at the same time.
func (s *service) callers(calls int, plain, works, fails hook) (all []made) {
	s.t.Helper()
	var mu sync.Mutex
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := worker; i < calls; i += 8 {
				m := made{want: "ok"}
				var got answer
				switch i % 10 {
				case 0:
					got = s.call(hook{UUID: unknownToken}, "text/plain", "hi")
					m.want, m.code = "rejected", "any"
				case 1:
					got = s.call(plain, "text/plain", strings.Repeat("x", 101))
					m.want, m.code = "rejected", "payload-too-large"
				case 2, 3:
					got = s.call(fails, "text/plain", "hi")
					m.want = "error"
				case 4, 5, 6:
					got = s.call(works, "application/json", fmt.Sprintf(`{"n":%d}`, i))
				default:
					got = s.call(plain, "text/plain", strconv.Itoa(i))
				}
				m.status = got.status
				m.traceID = got.header.Get("svc-trace-id")
				if m.traceID == "" {
					m.traceID, _ = got.object(s.t)["traceId"].(string)
				}
				mu.Lock()
				all = append(all, m)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return all
}

// TestAnyCallIsFoundAgain makes a thousand calls of all kinds, with a restart in
// the middle, finds each, follows them live, replays those that failed, and
// compares with the metrics.
func TestAnyCallIsFoundAgain(t *testing.T) {
	t.Parallel()
	const half = 500
	s := start(t)
	plain := s.create("webhook.plain", "maxPayloadLength", 100)
	works, fails := s.create("webhook.works", "payloadType", "raw"), s.create("webhook.fails")
	s.store("works", "pipeline:\n- event.listen: {eventKey: webhook.works}\n- set: {value: '#{body.payload.n}'}\n")
	s.store("fails", "pipeline:\n- event.listen: {eventKey: webhook.fails}\n- fail: {message: no, statusCode: 422}\n")

	first := s.callers(half, plain, works, fails)
	s.stop()
	s.resume()
	restarted := time.Now()
	tail := s.follow(t, "")
	second := s.callers(half, plain, works, fails)

	failed := make(map[string]bool)
	statuses := make(map[int]int)
	told := make(map[string]bool)
	for i, m := range append(first, second...) {
		if i >= half {
			statuses[m.status]++
			told[m.traceID] = true
		}
		if m.traceID == "" {
			continue
		}
		got := s.trace(m.traceID)
		if got.Status != m.want || got.Code != m.code || got.StatusCode != m.status || got.Duration <= 0 || got.Size <= 0 {
			t.Fatalf("a call that was answered %d is found as %+v, want %s", m.status, got, m.want)
		}
		if m.want == "error" {
			failed[m.traceID] = true
			if len(got.Runs) != 1 || got.Runs[0].Pipeline != "fails" || got.Runs[0].Status != "error" || got.Runs[0].Error["status"] != 422.0 || got.Runs[0].Steps[0].Command != "fail" {
				t.Fatalf("a failed call has the runs %+v", got.Runs)
			}
		}
	}
	delete(told, "")
	tail.await(t, told)

	strangers := s.traces("traceId", unknownToken[len(unknownToken)-6:])
	if len(strangers) != 2*half/10 {
		t.Errorf("%d calls with an unknown token are found, want %d", len(strangers), 2*half/10)
	}
	for _, got := range strangers {
		if got.Status != "rejected" || got.Code != "token-invalid" && got.Code != "too-many-bad-tokens" {
			t.Errorf("a call with an unknown token is found as %+v", got)
		}
	}
	for tenths, h := range map[int]hook{4: plain, 3: works, 2: fails} {
		want := 2 * half * tenths / 10
		if got := s.traces("traceId", h.last6(), "from", restarted.Add(-time.Hour).Format(time.RFC3339)); len(got) != want {
			t.Errorf("%s has %d calls, want %d", h.EventKey, len(got), want)
		}
	}
	s.wantMetrics(t, restarted, statuses)
	s.replayAll(t, fails, failed)
}

// wantMetrics compares the metrics with what was answered, and what is found.
func (s *service) wantMetrics(t *testing.T, since time.Time, answered map[int]int) {
	t.Helper()
	found := make(map[int]int)
	for _, got := range s.traces("from", since.Format(time.RFC3339Nano)) {
		found[got.StatusCode]++
	}
	text := string(s.send("GET", "/metrics", nil, asAdmin).wantStatus(t, http.StatusOK).body)
	for status, want := range answered {
		line := regexp.MustCompile(fmt.Sprintf(`(?m)^sluice_calls_total\{status="%d"\} (\d+)$`, status)).FindStringSubmatch(text)
		if line == nil || line[1] != strconv.Itoa(want) || found[status] != want {
			t.Errorf("%d calls were answered %d; the metrics have %v, and %d are found", want, status, line, found[status])
		}
	}
}

// replayAll replays the failed calls of a webhook and waits until the copies
// have failed as well.
func (s *service) replayAll(t *testing.T, h hook, failed map[string]bool) {
	t.Helper()
	var done struct {
		Replayed int `json:"replayed"`
		Items    []struct {
			TraceID       string `json:"traceId"`
			NewTraceID    string `json:"newTraceId"`
			CorrelationID string `json:"correlationId"`
		} `json:"items"`
	}
	s.command("event.replay", map[string]any{
		"eventKey": h.EventKey, "rate": 1000, "pipeline": "fails",
		"from": time.Now().Add(-time.Hour).Format(time.RFC3339), "to": time.Now().Format(time.RFC3339Nano),
	}).wantStatus(t, http.StatusOK).into(t, &done)
	if done.Replayed != len(failed) || len(done.Items) != len(failed) {
		t.Fatalf("%d events are replayed and %d listed, want %d", done.Replayed, len(done.Items), len(failed))
	}
	for _, item := range done.Items {
		if !failed[item.TraceID] || !strings.HasPrefix(item.NewTraceID, h.last6()+":") {
			t.Fatalf("%+v is no replay of a failed call", item)
		}
		delete(failed, item.TraceID)
		eventually(t, "a replayed event to fail", func() bool {
			got := s.trace(item.NewTraceID)
			return got.Status == "error" && got.ReplayOf == item.TraceID && got.CorrelationID == item.CorrelationID && len(got.Runs) == 1
		})
	}
}

// TestOneCallInFull: a whole trace id shows what was sent and what came of it,
// to those who may see payloads.
func TestOneCallInFull(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "correct horse 2", "roles": "viewer"}).wantStatus(t, 200)
	asViewer := func(r *http.Request) { r.SetBasicAuth("vera", "correct horse 2") }
	raw, binary := s.create("webhook.raw", "payloadType", "raw"), s.create("webhook.binary", "maxPayloadLength", 4<<20)
	s.store("answers", "pipeline:\n- event.listen: {eventKey: webhook.raw}\n- set: {value: 42}\n")
	for _, test := range []struct {
		name, contentType, body, payload string
		hook                             hook
	}{
		{"JSON", "application/json", `{"a":[1,2.50]}`, `{"a":[1,2.50]}`, raw},
		{"text", "text/plain", `hi`, `"hi"`, raw},
		{"bytes", "image/png", "\x89PNG", `{"size":4,"type":"image/png","origin":"iVBORw=="}`, binary},
		{"many bytes", "image/png", strings.Repeat("x", 100_000), `{"size":100000,"type":"image/png"}`, binary},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := s.call(test.hook, test.contentType, test.body).wantStatus(t, 200).header.Get("svc-trace-id")
			got := s.trace(id)
			if string(got.Payload) != test.payload || got.ContentType != test.contentType || got.Method != "POST" || got.Headers["content-type"] != test.contentType {
				t.Errorf("found %+v with payload %s, want %s", got, got.Payload, test.payload)
			}
			if got.Result["status"] != "ok" || test.hook.UUID == raw.UUID && got.Result["value"] != 42.0 {
				t.Errorf("the result is %v", got.Result)
			}
			if shown := s.traces("traceId", test.hook.last6()); shown[0].Payload != nil {
				t.Error("a list has payloads")
			}
			seen := s.send("GET", "/api/v3/command/trace.get?traceId="+id, nil, asViewer).wantStatus(t, 200)
			for _, secret := range []string{`"payload"`, `"result"`, `"headers"`, `"origin"`} {
				if strings.Contains(string(seen.body), secret) {
					t.Errorf("who may not see payloads sees %s: %s", secret, seen.body)
				}
			}
		})
	}
}

// TestReplaysForOnePipeline: for one that is there, and listens.
func TestReplaysForOnePipeline(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.replayed")
	id := s.call(h, "text/plain", "hi").wantStatus(t, 200).header.Get("svc-trace-id")
	s.command("event.replay", map[string]any{"traceId": id, "pipeline": "unknown"}).wantProblem(t, 404, "pipeline-unknown")
	s.store("deaf", listening("webhook.other", "set: {value: 1}"))
	s.command("event.replay", map[string]any{"traceId": id, "pipeline": "deaf"}).wantProblem(t, 409, "pipeline-not-listening")
}
