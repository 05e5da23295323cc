package serve_test

import (
	"net/http"
	"strings"
	"testing"
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
