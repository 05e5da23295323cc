package serve_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"sluice"
)

// countOf returns the value of the answer to a call that was split.
func countOf(t *testing.T, got answer) sluice.Split {
	t.Helper()
	var answer struct {
		Status string
		Value  sluice.Split
	}
	got.wantStatus(t, 200).into(t, &answer)
	if answer.Status != "ok" {
		t.Errorf("the call is %s", answer.Status)
	}
	return answer.Value
}

// TestACallOfSeveralEvents: each item of a list is an event with ids of its own; items that were there
// already are left out, in whichever order they come; and the call's ids find its answer and its items.
func TestACallOfSeveralEvents(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.many", "payloadType", "raw", "split", "payload.events", "dedupe", "item:id", "eventType", "body:kind")
	s.send("PUT", "/api/v3/pipeline/echo", strings.NewReader("pipeline:\n  - event.listen: {eventKey: webhook.many, type: paid}\n  - set: {value: '#{body}'}\n"), asAdmin).wantStatus(t, 200)
	items := []string{`{"id":1,"kind":"paid"}`, `{"id":"2","kind":"sent"}`, `{"id":1,"kind":"again"}`, `{"kind":"paid"}`}
	first := s.call(h, "application/json", `{"events":[`+strings.Join(items, ",")+`]}`, header("X-From", "a batch"))
	if got := countOf(t, first); got != (sluice.Split{Events: 3, Duplicates: 1}) {
		t.Errorf("of 4 items with 1 repeated: %+v", got)
	}
	result := first.object(t)
	var found []trace
	eventually(t, "the call and its items to be done, and their two runs to be recorded", func() bool {
		runs := 0
		found = s.traces("traceId", result["traceId"].(string), "status", "ok")
		for _, c := range found {
			runs += len(c.Runs)
		}
		return len(found) == 4 && runs >= 2
	})
	call := found[len(found)-1]
	for _, c := range found {
		if c.Split != nil {
			call = c
		}
	}
	if call.Split == nil || call.Batch != nil || call.TraceID != result["traceId"] || call.Status != "ok" {
		t.Errorf("the call itself: %+v", call)
	}
	kinds := map[string]int{}
	for _, c := range found {
		if c.Batch == nil {
			continue
		}
		kinds[fmt.Sprintln(c.Type, c.Batch.Index, c.Batch.Count, c.Batch.TraceID == call.TraceID, len(c.Runs), c.DeliveryID)]++
		if one := s.traces("traceId", c.TraceID); len(one) != 1 || one[0].CorrelationID == call.CorrelationID {
			t.Errorf("%s finds %+v", c.TraceID, one)
		}
	}
	for _, want := range []string{"paid 0 4 true 1 1\n", "sent 1 4 true 0 2\n", "paid 3 4 true 1 \n"} {
		if kinds[want] != 1 {
			t.Errorf("there is no item %q in %v", want, kinds)
		}
	}
	var page struct {
		Items []sluice.CallView
	}
	s.command("trace.get", map[string]any{"traceId": sluice.ItemTraceID(call.TraceID, 0)}).wantStatus(t, 200).into(t, &page)
	var event sluice.Event
	if err := json.Unmarshal(page.Items[0].Result.Value, &event); err != nil {
		t.Fatal(err)
	}
	if string(event.Payload) != items[0] || event.Headers.Get("X-From") != "a batch" || event.ContentType != "application/json" ||
		*event.Batch != (sluice.Item{TraceID: call.TraceID, Index: 0, Count: 4}) {
		t.Errorf("the first event is %s", page.Items[0].Result.Value)
	}
	poll := s.send("GET", "/api/v3/result?svc-result-correlationid="+url.QueryEscape(result["correlationId"].(string)), nil)
	if got := countOf(t, poll); got != (sluice.Split{Events: 3, Duplicates: 1}) {
		t.Errorf("its correlation id finds %+v", got)
	}
	again := s.call(h, "application/json", `{"events":[{"id":"3"},`+items[1]+`,`+items[0]+`]}`)
	if got := countOf(t, again); got != (sluice.Split{Events: 1, Duplicates: 2}) {
		t.Errorf("repeated in another order: %+v", got)
	}
	none := s.call(h, "application/json", `{"events":[]}`)
	if got := countOf(t, none); got != (sluice.Split{}) {
		t.Errorf("an empty list makes %+v", got)
	}
	if got := countOf(t, s.send("GET", "/api/v3/result?svc-result-correlationid="+none.header.Get("svc-result-correlationid"), nil)); got != (sluice.Split{}) {
		t.Errorf("the poll for an empty list: %+v", got)
	}
	s.call(h, "application/json", `{"id":"9","kind":"paid"}`).wantStatus(t, 200)
	eventually(t, "5 events to be counted", func() bool {
		var figures []struct{ Accepted, OK int }
		s.command("webhook.stats", map[string]any{"eventKey": "webhook.many"}).wantStatus(t, 200).into(t, &figures)
		return len(figures) == 1 && figures[0].Accepted == 5 && figures[0].OK == 5
	})
}

// TestItemsOfACallAreRetriedTogether: the trace id of a call finds its events that wait.
func TestItemsOfACallAreRetriedTogether(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.many", "payloadType", "raw", "split", "payload")
	s.store("many", "retry: {times: 3, backoff: 1h}\n"+listening("webhook.many", "fail: {message: no, statusCode: 503}")).wantStatus(t, 200)
	call := s.call(h, "application/json", `[1,2]`).wantStatus(t, 200).header.Get("svc-trace-id")
	eventually(t, "both to wait", func() bool { return len(s.traces("status", "retrying")) == 2 })
	for traceID, want := range map[string]float64{call: 2, s.traces("status", "retrying")[0].TraceID: 1} {
		if got := s.command("event.retry", map[string]any{"traceId": traceID, "dryRun": true}).wantStatus(t, 200).object(t); got["retried"] != want {
			t.Errorf("of %s, %v are retried", traceID, got["retried"])
		}
	}
}

// TestItemsOfACallAreReplayedAndErasedTogether, and a batch of the quarantine becomes its items.
func TestItemsOfACallAreReplayedAndErasedTogether(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.many", "payloadType", "raw", "split", "payload", "disabled", true)
	s.call(h, "application/json", `["first secret","second secret"]`).wantProblem(t, 403, "webhook-disabled")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "disabled": false}).wantStatus(t, 200)
	var kept struct {
		Items []struct{ ID string }
	}
	s.command("quarantine.get", nil).wantStatus(t, 200).into(t, &kept)
	s.command("quarantine.admit", map[string]any{"id": kept.Items[0].ID}).wantStatus(t, 200)
	var call string
	for _, c := range s.traces("eventKey", "webhook.many") {
		if c.Split != nil {
			call = c.TraceID
			if c.Split.Events != 2 || c.AdmittedOf != kept.Items[0].ID {
				t.Errorf("admitted: %+v", c)
			}
		}
	}
	s.command("event.replay", map[string]any{"traceId": []string{call}}).wantStatus(t, 200)
	replays := map[string]bool{}
	for _, c := range s.traces("eventKey", "webhook.many") {
		replays[c.ReplayOf] = true
	}
	if !replays[sluice.ItemTraceID(call, 0)] || !replays[sluice.ItemTraceID(call, 1)] || replays[call] {
		t.Errorf("replayed are %v", replays)
	}
	s.command("event.erase", map[string]any{"traceId": call, "force": true}).wantStatus(t, 200)
	for _, c := range s.traces("eventKey", "webhook.many") {
		if !c.Erased && c.Status != "rejected" {
			t.Errorf("not erased: %+v", c)
		}
	}
}

// TestSplitIsChecked: what a call brings is checked item by item, and a call that is wrong makes nothing.
func TestSplitIsChecked(t *testing.T) {
	t.Parallel()
	s := start(t)
	numbers := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strconv.Itoa(i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	plain := s.create("webhook.plain", "split", "payload")
	s.call(plain, "application/json", numbers(1001)).wantProblem(t, 413, "too-many-items")
	if got := countOf(t, s.call(plain, "application/json", numbers(1000))); got.Events != 1000 {
		t.Errorf("1000 items make %+v", got)
	}
	schema := s.create("webhook.schema", "payloadType", "raw", "split", "payload", "schema", map[string]any{"type": "object"})
	problem := s.call(schema, "application/json", `[{},{},7]`).wantProblem(t, 422, "payload-invalid")
	if text, _ := json.Marshal(problem["errors"]); !strings.Contains(string(text), "In item 2") {
		t.Errorf("the errors are %s", text)
	}
	if got := s.traces("eventKey", "webhook.schema", "status", "ok"); len(got) != 0 {
		t.Errorf("a call that is wrong makes %+v", got)
	}
	redacted := s.create("webhook.redacted", "payloadType", "raw", "split", "payload.list", "redact", []string{"payload.card"}, "dedupe", "item:card")
	for i, want := range []sluice.Split{{Events: 2}, {Duplicates: 2}} {
		if got := countOf(t, s.call(redacted, "application/json", `{"list":[{"card":"4711"},{"card":"0815"}]}`)); got != want {
			t.Errorf("call %d: %+v", i, got)
		}
	}
	for _, c := range s.traces("eventKey", "webhook.redacted") {
		var page struct{ Items []json.RawMessage }
		s.command("trace.get", map[string]any{"traceId": c.TraceID}).wantStatus(t, 200).into(t, &page)
		for _, item := range page.Items {
			if strings.Contains(string(item), "4711") || strings.Contains(string(item), "0815") {
				t.Errorf("it was stored: %s", item)
			}
		}
	}
	s.call(redacted, "text/plain", `{"list":[1,2]}`).wantStatus(t, 200)
	s.call(redacted, "application/json", `{"list":{"a":1}}`).wantStatus(t, 200)
	scenarios := []scenario{}
	for _, bad := range []string{"events", "payload.", "payload[*]", "payload..a", "payload.a[0]", "payload.a[*]", "payload" + strings.Repeat(".a", 20)} {
		scenarios = append(scenarios, scenario{
			name: bad, target: "webhook.put", json: `{"uuid":"UUID","split":"` + bad + `"}`, status: 400, code: "parameter-invalid", parameter: "split", detail: "payload.<member>",
		})
	}
	for _, good := range []string{"payload", "payload.entry[*].changes", "auto", "off"} {
		scenarios = append(scenarios, scenario{
			name: good, target: "webhook.put", json: `{"uuid":"UUID","split":"` + good + `"}`, status: 200, fields: map[string]any{"split": good},
		})
	}
	scenarios = append(scenarios,
		scenario{name: "none", target: "webhook.put", json: `{"uuid":"UUID","split":""}`, status: 200, fields: map[string]any{"split": nil}},
		scenario{name: "a bad id", target: "webhook.put", json: `{"uuid":"UUID","dedupe":"item:"}`, status: 400, code: "parameter-invalid", parameter: "dedupe", detail: "item:<member.of.json>"},
		scenario{name: "of meta", target: "provider.get", json: `{"provider":"meta"}`, status: 200, fields: map[string]any{"split": "payload.entry[*].changes"}},
		scenario{name: "of github", target: "provider.get", json: `{"provider":"github"}`, status: 200, fields: map[string]any{"split": nil}})
	runScenarios(t, s, []string{"UUID", plain.UUID}, scenarios)
}

// TestPresetsSplitTheirSamples: with auto, what a known sender sends becomes its items.
func TestPresetsSplitTheirSamples(t *testing.T) {
	t.Parallel()
	s := start(t)
	for provider, test := range map[string]struct{ media, body, kind, id string }{
		"azure-event-grid": {"application/json", `[{"id":"a","eventType":"Made","data":{}},{"id":"b","eventType":"Made","data":{}}]`, "Made", "b"},
		"microsoft-graph":  {"application/json", `{"value":[{"id":"a","changeType":"created"},{"id":"b","changeType":"updated"}]}`, "updated", "b"},
		"cloudevents":      {"application/cloudevents-batch+json", `[{"id":"a","source":"/s","type":"t.a"},{"id":"b","source":"/s","type":"t.b"}]`, "t.b", "/s b"},
	} {
		h := s.create("webhook."+provider, "provider", provider, "split", "auto", "payloadType", "raw")
		for i, want := range []sluice.Split{{Events: 2}, {Duplicates: 2}} {
			if got := countOf(t, s.call(h, test.media, test.body)); got != want {
				t.Errorf("%s, call %d: %+v", provider, i, got)
			}
		}
		found := 0
		for _, c := range s.traces("eventKey", "webhook."+provider) {
			if c.Batch != nil && c.Batch.Index == 1 {
				if found++; c.Type != test.kind || c.DeliveryID != test.id {
					t.Errorf("%s: %+v", provider, c)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: the second item is there %d times", provider, found)
		}
	}
}
