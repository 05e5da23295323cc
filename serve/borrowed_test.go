package serve_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sluice"
	"sluice/serve"
)

// TestARunReadsItsOwnEvent: whoever may store pipelines gets no other events by that.
func TestARunReadsItsOwnEvent(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.create("webhook.cards", "payloadType", "raw")
	s.sendEvent("webhook.cards", "4111-1111")
	hook := s.create("webhook.own", "payloadType", "raw")
	asThief := s.user("thief", "pipeline.put", "pipeline.lint", "pipeline.run", "event.listen", "set", "iam.run.as")
	asReader := s.user("reader", "pipeline.put", "event.listen", "trace.payload")
	source := func(key string) string {
		return "pipeline: [event.listen: {eventKey: webhook.own}, event.receive: {eventKey: " + key + "}, set: {value: '#{body?.payload}'}]"
	}
	run := func(key string, as func(*http.Request)) result {
		t.Helper()
		s.put("reads", source(key), as, forced).wantStatus(t, 200)
		return s.call(hook, "text/plain", "mine").result(t)
	}
	for _, key := range []string{"webhook.cards", `"#{'webhook.' + 'cards'}"`, "webhook.cards, timeout: 1ms"} {
		got := run(key, asThief)
		s.wantRefused(t, got, "event.receive")
		if strings.Contains(toText(t, got), "4111") {
			t.Errorf("%s: the run got %+v", key, got)
		}
	}
	if got := run("webhook.own", asThief); got.Value != "mine" {
		t.Errorf("its own event is %+v", got)
	}
	if got := run("webhook.cards", asReader); got.Value != "4111-1111" {
		t.Errorf("an owner who may see payloads gets %+v", got)
	}
	if got := run("webhook.cards", asAdmin); got.Value != "4111-1111" {
		t.Errorf("an owner who may receive events gets %+v", got)
	}

	problem := s.put("reads", source("webhook.cards"), asThief).wantProblem(t, 422, "pipeline-not-permitted")
	if got := findings(problem["errors"]); got != "1 event.receive event.receive Ask an administrator for a role that has the permission event.receive." {
		t.Errorf("storing it finds %q", got)
	}
	s.put("reads", source("webhook.own"), asThief).wantStatus(t, 200)

	// The rights of a caller are not those of the owner, and an inner pipeline has those of both.
	s.put("lure", "pipeline: [event.receive: {eventKey: webhook.cards}]", asThief, forced).wantStatus(t, 200)
	s.send("POST", "/api/v3/pipeline/lure", nil, asAdmin).wantProblem(t, 403, "forbidden")
	s.run("pipeline: [pipeline.run: {name: lure}]").wantProblem(t, 403, "forbidden")
}

// TestAClientThatPeopleTrust: it lends its operator the rights of whoever signs in through
// it, so changing it takes these rights.
func TestAClientThatPeopleTrust(t *testing.T) {
	t.Parallel()
	s := start(t)
	asDelegate := s.user("delegate", "iam.client.*", "iam.whoami")
	const home, evil = "https://app.example.org/cb", "https://evil.example/cb"
	for id, client := range map[string]map[string]any{
		"app":     {"public": true, "redirectUris": home},
		"site":    {"grants": "authorization_code", "redirectUris": home},
		"form":    {"grants": "password,refresh_token"},
		"kept":    {"grants": "refresh_token"},
		"robot":   {},
		"changed": {"roles": "viewer"},
	} {
		client["clientId"] = id
		s.command("iam.client.put", client).wantStatus(t, 200)
	}
	for _, id := range []string{"app", "site", "form", "kept"} {
		before := string(s.command("iam.client.get", map[string]any{"clientId": id}).wantStatus(t, 200).body)
		for _, change := range []map[string]any{
			{"redirectUris": evil}, {"renew": true}, {"public": true}, {"public": false}, {"grants": "client_credentials"}, {"roles": []string{}}, {"redirectUris": evil, "dryRun": true},
		} {
			change["clientId"] = id
			problem := s.command("iam.client.put", change, asDelegate).wantProblem(t, 403, "forbidden")
			if detail, _ := problem["detail"].(string); !strings.Contains(detail, "you lack *") {
				t.Errorf("%v is refused with %q, want what is missing", change, detail)
			}
		}
		s.command("iam.client.delete", map[string]any{"clientId": id}, asDelegate).wantProblem(t, 403, "forbidden")
		if after := string(s.command("iam.client.get", map[string]any{"clientId": id}).wantStatus(t, 200).body); after != before {
			t.Errorf("%s became %s", before, after)
		}
		s.command("iam.client.put", map[string]any{"clientId": id, "redirectUris": home}).wantStatus(t, 200)
	}
	s.command("iam.client.put", map[string]any{"clientId": "robot", "renew": true}, asDelegate).wantStatus(t, 200)
	s.command("iam.client.delete", map[string]any{"clientId": "robot"}, asDelegate).wantStatus(t, 200)
	s.command("iam.client.put", map[string]any{"clientId": "changed", "renew": true}, asDelegate).wantProblem(t, 403, "forbidden")
}

// TestStrangersLearnNothing: neither which commands and programs there are, nor the version.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	open := s.send("GET", "/openapi.json", nil).wantStatus(t, 200)
	for _, told := range []string{"webhook.put", "iam.", "x-permission", sluice.EventsPath, sluice.PipelinePath, serve.Release()} {
		if strings.Contains(string(open.body), told) {
			t.Errorf("a stranger is told of %s", told)
		}
	}
	if !strings.Contains(string(open.body), resultPath) || !strings.Contains(string(open.body), "openIdConnectUrl") {
		t.Errorf("what is open is not described: %s", open.body)
	}
	s.send("GET", "/openapi.json", nil, header("Authorization", "Bearer x")).wantStatus(t, 401)
	if all := s.send("GET", "/openapi.json", nil, asAdmin).wantStatus(t, 200); !strings.Contains(string(all.body), "iam.client.put") {
		t.Errorf("who is known is told %s", all.body)
	}

	s.command("iam.client.put", map[string]any{"clientId": "trusted", "public": true, "redirectUris": "https://app.example.org/cb"}).wantStatus(t, 200)
	ask := func(client, redirect, more string) answer {
		t.Helper()
		return s.send("GET", "/authorize?client_id="+client+"&redirect_uri="+url.QueryEscape(redirect)+more, nil)
	}
	same := func(what, client, redirect, more string) {
		t.Helper()
		unknown, got := ask("nobody", redirect, more), ask(client, redirect, more)
		replaced := func(text string) string { return strings.ReplaceAll(text, client, "nobody") }
		if got.status != unknown.status || replaced(got.header.Get("Location")) != unknown.header.Get("Location") || replaced(string(got.body)) != replaced(string(unknown.body)) {
			t.Errorf("%s: a stranger is told %d %s, of an unknown program %d %s", what, got.status, got.header.Get("Location"), unknown.status, unknown.header.Get("Location"))
		}
	}
	for _, more := range []string{"", "&response_type=token", "&response_type=code&code_challenge=x", "&prompt=none", "&prompt=none+login"} {
		same("a program", "trusted", "https://app.example.org/cb", more)
		same("the command line", "sluice", "http://127.0.0.1:1/callback", more)
		same("another place", "trusted", "https://evil.example/cb", more)
	}
}

// TestKeysOfTheServer: nobody but the server makes events with its keys, so an alert is one.
func TestKeysOfTheServer(t *testing.T) {
	t.Parallel()
	s := start(t)
	for command, given := range map[string]map[string]any{
		"event.send":   {"eventKey": "sluice.alert.disk", "payload": 1},
		"message.send": {"key": "svc.event.sluice.alert.disk", "payload": 1},
		"webhook.put":  {"eventKey": "sluice.alert.disk"},
	} {
		if got := s.command(command, given).wantProblem(t, 400, "parameter-invalid"); !strings.Contains(fmt.Sprint(got["detail"]), "sluice.") {
			t.Errorf("%s says %v", command, got)
		}
	}
}
