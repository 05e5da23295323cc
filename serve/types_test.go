package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestKindsOfEvents: a call's kind is the type of its event, which finds, counts, reads, follows,
// replays and erases calls.
func TestKindsOfEvents(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.git", "payloadType", "raw", "eventType", "header:X-GitHub-Event")
	tail := s.follow(t, "?type=pu*")
	var cursor struct{ Next string }
	s.command("event.get", map[string]any{"eventKey": "#"}).wantStatus(t, 200).into(t, &cursor)
	s.send("PUT", "/api/v3/pipeline/echo", strings.NewReader("pipeline:\n  - event.listen: {eventKey: webhook.git}\n  - set: {value: '#{body.type}'}\n"), asAdmin).wantStatus(t, 200)
	ids := make(map[string]string)
	for _, kind := range []string{"ping", "pull_request", "", "push"} {
		got := s.call(h, "application/json", "{}", header("X-GitHub-Event", kind)).wantStatus(t, 200)
		if result := got.object(t); kind != "" && result["value"] != kind {
			t.Errorf("the pipeline sees the type %v, want %q", result["value"], kind)
		}
		ids[kind] = got.header.Get("svc-trace-id")
	}
	find := func(pairs ...string) (kinds []string) {
		for _, c := range s.traces(pairs...) {
			kinds = append(kinds, c.Type)
		}
		return kinds
	}
	for _, test := range []struct {
		pairs []string
		want  string
	}{
		{nil, "push  pull_request ping"},
		{[]string{"type", "push"}, "push"},
		{[]string{"type", "pu*"}, "push pull_request"},
		{[]string{"type", "*"}, "push  pull_request ping"},
		{[]string{"type", "pus"}, ""},
		{[]string{"type", "ping", "eventKey", "webhook.other"}, ""},
		{[]string{"search", "LL_REQ"}, "pull_request"},
	} {
		if got := strings.Join(find(test.pairs...), " "); got != test.want {
			t.Errorf("%q finds %q, want %q", test.pairs, got, test.want)
		}
	}
	var page struct {
		Facets struct {
			Types []struct {
				Value string
				Count int
			}
		}
	}
	s.command("trace.get", map[string]any{"facets": true}).wantStatus(t, 200).into(t, &page)
	if got := page.Facets.Types; len(got) != 3 || got[0].Count != 1 {
		t.Errorf("counted by type: %v", got)
	}
	for _, kind := range []string{"pull_request", "push"} {
		for { // runs are told of, too
			_, _, data := tail.next(t)
			if strings.Contains(data, ids["ping"]) || strings.Contains(data, ids[""]) || !strings.Contains(data, `"type":"pu`) {
				t.Errorf("the tail tells of %s", data)
			}
			if strings.Contains(data, ids[kind]) {
				break
			}
		}
	}
	var read struct {
		Items []struct{ Type, TraceID string }
	}
	s.command("event.get", map[string]any{"eventKey": "#", "after": cursor.Next, "type": "push"}).wantStatus(t, 200).into(t, &read)
	if len(read.Items) != 1 || read.Items[0].TraceID != ids["push"] {
		t.Errorf("event.get reads %+v", read.Items)
	}
	s.command("event.replay", map[string]any{"eventKey": "webhook.git", "since": "1h", "type": "pull_*"}).wantStatus(t, 200)
	if got := s.traces("type", "pull_request"); len(got) != 2 || got[0].ReplayOf != ids["pull_request"] {
		t.Errorf("replayed: %v", got)
	}
	s.command("event.erase", map[string]any{"eventKey": "webhook.git", "type": "pull_request", "force": true}).wantStatus(t, 200)
	if got := find(); slices.Contains(got, "pull_request") || !slices.Contains(got, "push") {
		t.Errorf("after an erasure there are %q", got)
	}
}

// TestWhereKindsComeFrom: a webhook's own place goes before its provider's, and a secret, a token
// or what is never stored is no type.
func TestWhereKindsComeFrom(t *testing.T) {
	t.Parallel()
	s := start(t)
	stripe := []any{"provider", "standard-webhooks", "signingSecret", "whsec_c2VjcmV0LW9mLTI0LWJ5dGVzLS0tLS0t", "payloadType", "raw"}
	for name, test := range map[string]struct {
		settings []any
		media    string
		body     string
		want     string
	}{
		"nowhere":               {nil, "application/json", `{"type":"a"}`, ""},
		"a member":              {[]any{"eventType", "body:data.kind"}, "application/json", `{"data":{"kind":7}}`, "7"},
		"of base64":             {[]any{"eventType", "body:type", "payloadType", "base64"}, "application/json", `{"type":"a"}`, "a"},
		"of what is ignored":    {[]any{"eventType", "body:type", "payloadType", "ignore"}, "application/json", `{"type":"a"}`, "a"},
		"the query":             {[]any{"eventType", "query:kind"}, "text/plain", `x`, "paid"},
		"a CloudEvent":          {nil, "application/cloudevents+json", `{"id":"1","source":"/s","type":"order.paid"}`, "order.paid"},
		"a CloudEvent, off":     {[]any{"eventType", "off"}, "application/cloudevents+json", `{"id":"1","source":"/s","type":"order.paid"}`, ""},
		"the token in a query":  {[]any{"eventType", "query:token"}, "text/plain", `x`, ""},
		"the token in a header": {[]any{"eventType", "header:token"}, "text/plain", `x`, ""},
		"a secret header":       {[]any{"eventType", "header:Authorization"}, "text/plain", `x`, ""},
		"what is never stored":  {[]any{"eventType", "body:type", "payloadType", "raw", "redact", []string{"payload.type"}}, "application/json", `{"type":"a"}`, "***"},
	} {
		h := s.create("webhook."+strings.NewReplacer(" ", "-", ",", "").Replace(name), append(test.settings, "methods", []string{"POST"})...)
		s.send("POST", receivePath+"?kind=paid&token="+h.UUID, strings.NewReader(test.body), header("Content-Type", test.media), header("Authorization", "Basic c2VjcmV0")).wantStatus(t, 200)
		if got := s.traces("traceId", h.last6()); len(got) != 1 || got[0].Type != test.want {
			t.Errorf("%s: %+v, want the type %q", name, got, test.want)
		}
	}
	h := s.create("webhook.provided", stripe...)
	runScenarios(t, s, []string{"UUID", h.UUID}, []scenario{
		{name: "the provider's", target: "webhook.get", json: `{"uuid":"UUID"}`, status: 200, fields: map[string]any{"eventType": "body:type"}},
		{name: "of github", target: "provider.get", json: `{"provider":"github"}`, status: 200, fields: map[string]any{"eventType": "header:X-GitHub-Event"}},
		{name: "of nobody", target: "provider.get", json: `{"provider":"telegram"}`, status: 200, fields: map[string]any{"eventType": nil}},
		{name: "an own one", target: "webhook.put", json: `{"uuid":"UUID","eventType":"query:kind"}`, status: 200, fields: map[string]any{"eventType": "query:kind"}},
		{name: "a wrong one", target: "webhook.put", json: `{"uuid":"UUID","eventType":"type"}`, status: 400, code: "parameter-invalid", parameter: "eventType", detail: "body:<member.of.json>"},
		{name: "still the own one", target: "webhook.get", json: `{"uuid":"UUID"}`, status: 200, fields: map[string]any{"eventType": "query:kind"}},
		{name: "the provider's again", target: "webhook.put", json: `{"uuid":"UUID","eventType":""}`, status: 200, fields: map[string]any{"eventType": "body:type"}},
	})
}

// TestTypesInQuestionsAreChecked: the same rule counts everywhere.
func TestTypesInQuestionsAreChecked(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, bad := range []string{strings.Repeat("x", 201), "a*b", "**", "\xff"} {
		for command, params := range map[string]map[string]any{
			"trace.get": {}, "event.get": {"eventKey": "#"}, "event.replay": {"eventKey": "webhook.a", "since": "1h"}, "event.erase": {"eventKey": "webhook.a"},
		} {
			query := url.Values{"type": {bad}}
			for name, value := range params {
				query.Set(name, value.(string))
			}
			got := s.send("POST", "/api/v3/command/"+command, strings.NewReader(query.Encode()), asAdmin, header("Content-Type", form))
			if problem := got.wantProblem(t, http.StatusBadRequest, "parameter-invalid"); problem["parameter"] != "type" {
				t.Errorf("%s with %.20q blames %v", command, bad, problem["parameter"])
			}
		}
		s.send("GET", "/api/v3/events?type="+url.QueryEscape(bad), nil, asAdmin).wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	}
	for command, params := range map[string]map[string]any{
		"event.replay": {"traceId": "abcdef:abc", "type": "a"}, "event.erase": {"traceId": "abcdef:abc", "type": "a"},
	} {
		if problem := s.command(command, params).wantProblem(t, 400, "parameter-invalid"); problem["parameter"] != "traceId" {
			text, _ := json.Marshal(problem)
			t.Errorf("%s: %s", command, text)
		}
	}
}

// TestWhatNobodyTakes: a webhook's figures say which kinds of events came and how many pipelines take each, as far
// as a user may know, and after a restart as before.
func TestWhatNobodyTakes(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.git.hub", "payloadType", "raw", "eventType", "header:X-GitHub-Event", "split", "payload")
	s.store("git.push", "pipeline:\n  - event.listen: {eventKey: webhook.git.hub, type: pu*}\n  - set: {value: 1}\n")
	s.store("central", "pipeline:\n  - event.listen: {eventKey: 'webhook.#', type: [push, star]}\n  - set: {value: 1}\n")
	s.command("iam.role.put", map[string]any{"role": "git-dev", "like": "viewer", "scope": "git"}).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "ada", "password": "correct horse battery", "roles": "git-dev"}).wantStatus(t, 200)
	for _, kind := range []string{"push", "push", "ping", "star", ""} {
		s.call(h, "application/json", "{}", header("X-GitHub-Event", kind)).wantStatus(t, 200)
	}
	s.call(h, "application/json", "[1,2]", header("X-GitHub-Event", "push")).wantStatus(t, 200)
	s.call(hook{UUID: unknownToken}, "application/json", "{}", header("X-GitHub-Event", "lost")).wantStatus(t, 401)
	check := func(what, want string, as ...func(*http.Request)) {
		t.Helper()
		var found []struct {
			Types []struct {
				Type      string
				Calls     int
				Last      time.Time
				Listeners *int
			}
		}
		s.command("webhook.stats", map[string]any{"eventKey": "webhook.git.hub", "hours": 1}, as...).wantStatus(t, 200).into(t, &found)
		var got []string
		for _, of := range found[0].Types {
			line := fmt.Sprint(of.Type, " ", of.Calls)
			if of.Listeners != nil {
				line += fmt.Sprint(" by ", *of.Listeners)
			}
			if got = append(got, line); time.Since(of.Last) > time.Minute {
				t.Errorf("%s: the last %s came at %v", what, of.Type, of.Last)
			}
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	const all = "push 4 by 2, ping 1 by 0, star 1 by 1"
	check("at once", all)
	check("to a team that covers one pipeline", "push 4 by 1, ping 1, star 1", func(r *http.Request) { r.SetBasicAuth("ada", "correct horse battery") })
	s.stop()
	s.resume()
	check("after a restart", all)
}
