package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

type quarantined struct {
	ID           string              `json:"id"`
	EventKey     string              `json:"eventKey"`
	Code         string              `json:"code"`
	Diagnosis    []string            `json:"diagnosis"`
	Headers      map[string]string   `json:"headers"`
	Query        map[string][]string `json:"query"`
	Body         string              `json:"body"`
	BodyEncoding string              `json:"bodyEncoding"`
	Size         int                 `json:"size"`
}

// quarantine returns the rejected calls that fit.
func (s *service) quarantine(filters map[string]any, alterations ...func(*http.Request)) (items []quarantined) {
	s.t.Helper()
	var page struct {
		Items []quarantined `json:"items"`
	}
	s.command("quarantine.get", filters, alterations...).wantStatus(s.t, 200).into(s.t, &page)
	return page.Items
}

type admission struct {
	Admitted int `json:"admitted"`
	Refused  int `json:"refused"`
	Items    []struct {
		ID, TraceID, CorrelationID, Code string
	} `json:"items"`
}

func (s *service) admit(params map[string]any) (a admission) {
	s.t.Helper()
	s.command("quarantine.admit", params).wantStatus(s.t, 200).into(s.t, &a)
	return a
}

// TestRefusedCallsAreKeptAndLetIn: with what was sent, but for secrets, over a
// restart; they are checked again as the webhook is by then.
func TestRefusedCallsAreKeptAndLetIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.github", "provider", "github", "signingSecret", "wrong", "payloadType", "raw")
	body := `{"zen":"x","token":"` + h.UUID + `"}`
	signed := []func(*http.Request){
		header("Content-Type", "application/json"), header("X-Hub-Signature-256", "sha256="+hexMAC("right", body)), header("X-GitHub-Delivery", "d-1"),
		header("Authorization", "Bearer s3cret"),
	}
	got := s.send("POST", receivePath, strings.NewReader(body), signed...)
	problem := got.wantProblem(t, 401, "signature-invalid")
	if strings.Contains(string(got.body), "diagnosis") {
		t.Errorf("the caller learns %s", got.body)
	}
	items := s.quarantine(map[string]any{"eventKey": h.EventKey})
	if len(items) != 1 {
		t.Fatalf("kept: %+v", items)
	}
	kept := items[0]
	if kept.ID != problem["traceId"] || kept.Code != "signature-invalid" || len(kept.Diagnosis) == 0 || kept.Body != `{"zen":"x"}` || kept.Headers["x-github-delivery"] != "d-1" {
		t.Errorf("kept: %+v", kept)
	}
	if text := fmt.Sprintf("%+v", kept); strings.Contains(text, h.UUID) || strings.Contains(text, "s3cret") {
		t.Errorf("secrets show: %s", text)
	}
	calls := s.callsOf(h, "rejected")
	if len(calls) != 1 || calls[0]["quarantine"] != kept.ID {
		t.Errorf("trace.get: %v", calls)
	}
	s.stop()
	s.resume()
	if a := s.admit(map[string]any{"id": kept.ID}); a.Admitted != 0 || a.Refused != 1 || a.Items[0].Code != "signature-invalid" {
		t.Errorf("refused again: %+v", a)
	}
	if again := s.quarantine(map[string]any{"id": kept.ID}); len(again) != 1 {
		t.Errorf("after that: %+v", again)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "signingSecret": "right"}).wantStatus(t, 200)
	a := s.admit(map[string]any{"eventKey": h.EventKey, "code": "signature-invalid"})
	if a.Admitted != 1 {
		t.Fatalf("let in: %+v", a)
	}
	event := s.newest(h)
	if event["admitted"] != true || event["deliveryId"] != "d-1" || event["traceId"] != a.Items[0].TraceID || event["traceId"] == kept.ID {
		t.Errorf("the event is %v", event)
	}
	if left := s.quarantine(nil); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	// The sender tries again meanwhile: its delivery is known by now.
	if again := s.send("POST", receivePath, strings.NewReader(body), signed...); again.status != 200 || again.header.Get("svc-duplicate") != "true" {
		t.Errorf("the delivery again: %s", again)
	}
	s.command("quarantine.admit", map[string]any{"id": kept.ID}).wantProblem(t, 404, "quarantine-unknown")
	s.command("quarantine.admit", nil).wantProblem(t, 400, "parameter-missing")
}

// TestTheTokenIsNotInTheQuarantine: wherever it came in a call, those who look at
// what was refused can't call the webhook with it.
func TestTheTokenIsNotInTheQuarantine(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.github", "provider", "github", "signingSecret", "s")
	upper := strings.ToUpper(h.UUID)
	for name, send := range map[string]func() answer{
		"query":  func() answer { return s.send("POST", receivePath+"?token="+upper, strings.NewReader("{}")) },
		"header": func() answer { return s.call(h, "text/plain", "{}", header("X-Original-Uri", "/in?token="+h.UUID)) },
		"form": func() answer {
			return s.send("POST", receivePath, strings.NewReader("a=1&token="+upper), header("Content-Type", "application/x-www-form-urlencoded"))
		},
		"JSON": func() answer {
			return s.send("POST", receivePath, strings.NewReader(`{"token":"`+upper+`"}`), header("Content-Type", "application/json"))
		},
		"multipart": func() answer {
			body := "--b\r\nContent-Disposition: form-data; name=token\r\n\r\n" + upper + "\r\n--b\r\nContent-Disposition: form-data; name=file; filename=f\r\n\r\nhi\r\n--b--\r\n"
			return s.send("POST", receivePath, strings.NewReader(body), header("Content-Type", "multipart/form-data; boundary=b"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := send().wantProblem(t, 401, "signature-missing")["traceId"]
			kept := s.command("quarantine.get", map[string]any{"id": id}).wantStatus(t, 200).String()
			if strings.Contains(strings.ToLower(kept), h.UUID) || !strings.Contains(kept, "signature-missing") {
				t.Errorf("kept: %s", kept)
			}
		})
	}
}

// newest returns the newest event of a webhook.
func (s *service) newest(h hook) map[string]any {
	s.t.Helper()
	return s.command("event.receive", map[string]any{"eventKey": h.EventKey}).wantStatus(s.t, 200).object(s.t)
}

// TestWhatElseIsKept: calls of disabled webhooks, payloads that don't meet their
// schema; and who may see what, and delete it.
func TestWhatElseIsKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.kept", "payloadType", "raw", "schema", map[string]any{"type": "object", "required": []any{"id"}}, "dedupe", "body:id")
	s.call(h, "application/json", `{"a":1}`).wantProblem(t, 422, "payload-invalid")
	s.call(h, "application/json", `{"id":"1"}`).wantStatus(t, 200)
	if got := s.call(h, "application/json", `{"id":"1","more":true}`); got.status != 200 || got.header.Get("svc-duplicate") != "differs" {
		t.Errorf("another body: %s", got)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "disabled": true}).wantStatus(t, 200)
	s.call(h, "application/json", `{"id":"2"}`).wantProblem(t, 403, "webhook-disabled")
	items := s.quarantine(map[string]any{"eventKey": h.EventKey})
	if len(items) != 3 || items[0].Code != "webhook-disabled" || items[1].Code != "duplicate-differs" || items[2].Code != "payload-invalid" {
		t.Fatalf("kept: %+v", items)
	}
	s.command("iam.user.put", map[string]any{"username": "eve", "password": "a viewer's password", "roles": []any{"viewer"}}).wantStatus(t, 200)
	for _, item := range s.quarantine(nil, func(r *http.Request) { r.SetBasicAuth("eve", "a viewer's password") }) {
		if item.Headers != nil || item.Body != "" || len(item.Diagnosis) == 0 {
			t.Errorf("a viewer sees %+v", item)
		}
	}
	if a := s.admit(map[string]any{"eventKey": h.EventKey}); a.Refused != 3 {
		t.Errorf("a disabled webhook: %+v", a)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "disabled": false, "schema": nil}).wantStatus(t, 200)
	if a := s.admit(map[string]any{"eventKey": h.EventKey}); a.Admitted != 2 || a.Refused != 1 || s.accepted(h) != 3 {
		t.Errorf("let in: %+v, %d events", a, s.accepted(h))
	}
	if a := s.admit(map[string]any{"code": "duplicate-differs", "force": true}); a.Admitted != 1 || s.accepted(h) != 4 {
		t.Errorf("forced in: %+v, %d events", a, s.accepted(h))
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "disabled": true}).wantStatus(t, 200)
	s.call(h, "application/json", `{"id":"3"}`).wantProblem(t, 403, "webhook-disabled")
	if got := s.command("quarantine.delete", map[string]any{"code": "webhook-disabled"}).wantStatus(t, 200).object(t); got["deleted"] != 1.0 {
		t.Errorf("deleted: %v", got)
	}
	if left := s.quarantine(nil); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	metrics := string(s.send("GET", "/metrics", nil, asAdmin).wantStatus(t, 200).body)
	for _, want := range []string{`sluice_rejected_calls_total{code="webhook-disabled",webhook="webhook.kept"} 2`, "sluice_duplicate_calls_total 1"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// wantDropped wants a number of calls to be counted that the quarantine has not kept.
func (s *service) wantDropped(calls int) {
	s.t.Helper()
	metrics := string(s.send("GET", "/metrics", nil, asAdmin).wantStatus(s.t, 200).body)
	if want := fmt.Sprintf("\nsluice_quarantine_dropped_total %d\n", calls); !strings.Contains(metrics, want) {
		_, got, _ := strings.Cut(metrics, "\nsluice_quarantine_dropped_total ")
		s.t.Errorf("%.10q calls are counted as dropped, want %d", got, calls)
	}
}

// TestCallsThatCanNotBeKept are counted, since nobody finds them in the quarantine.
func TestCallsThatCanNotBeKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.unkept", "provider", "github", "signingSecret", "s")
	s.call(h, "application/json", `{}`).wantStatus(t, 401)
	if n := len(s.quarantine(nil)); n != 1 {
		t.Fatalf("%d calls are kept", n)
	}
	s.wantDropped(0)
	s.stop()
	s.config.MinFreeDisk = 1 << 60
	s.resume()
	for range 2 {
		s.call(h, "application/json", `{}`).wantStatus(t, 401)
	}
	if n := len(s.quarantine(nil)); n != 1 { // waits until the others are handled
		t.Errorf("%d calls are kept on a full disk", n)
	}
	s.wantDropped(2)
}
