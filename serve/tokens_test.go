package serve_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// tokensOf returns the tokens of a webhook as webhook.get shows them, by their ends.
func (s *service) tokensOf(h hook) map[string]map[string]any {
	s.t.Helper()
	found := make(map[string]map[string]any)
	for _, item := range s.command("webhook.get", map[string]any{"uuid": h.UUID}).wantStatus(s.t, 200).object(s.t)["tokens"].([]any) {
		token := item.(map[string]any)
		found[token["last6"].(string)] = token
	}
	return found
}

// TestAURLIsRenewed: a further token opens a webhook beside the uuid, and then in its place;
// nothing else changes for those who look at it.
func TestAURLIsRenewed(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.leaked", "payloadType", "raw")
	calls := func(token string, status int) {
		t.Helper()
		for _, target := range []string{"/hook/" + token + "/x", receivePath + "?token=" + token, receivePath + "?token=" + strings.ToUpper(token)} {
			got := s.send("POST", target, strings.NewReader("1")).wantStatus(t, status)
			if status == 401 {
				got.wantProblem(t, 401, "token-invalid")
			} else if trace := got.header.Get("Svc-Trace-Id"); !strings.HasPrefix(trace, h.UUID[30:]+":") {
				t.Errorf("the trace id is %s, want that of %s", trace, h.UUID[30:])
			}
		}
	}
	added := s.command("webhook.token.add", map[string]any{"eventKey": h.EventKey, "description": "for the sender"}).wantStatus(t, 200).object(t)
	token := added["token"].(string)
	if added["last6"] != token[30:] || !strings.HasSuffix(added["webhookUrl"].(string), "?token="+token) || !strings.HasSuffix(added["hookUrl"].(string), "/hook/"+token) || added["expires"] != nil {
		t.Errorf("the new token is %v", added)
	}
	calls(h.UUID, 200)
	calls(token, 200)
	eventually(t, "both tokens were used", func() bool {
		found := s.tokensOf(h)
		return found[token[30:]]["lastUsed"] != nil && found[h.UUID[30:]]["lastUsed"] != nil && found[token[30:]]["description"] == "for the sender"
	})
	s.command("webhook.token.delete", map[string]any{"uuid": h.UUID, "token": h.UUID[30:]}).wantStatus(t, 200)
	calls(h.UUID, 401)
	calls(token, 200)
	if open := s.tokensOf(h); open[h.UUID[30:]]["open"] != false || open[token[30:]]["open"] != true {
		t.Errorf("the tokens are %v", open)
	}
	shown := s.command("webhook.get", map[string]any{"uuid": h.UUID}).wantStatus(t, 200).object(t)
	if shown["uuid"] != h.UUID || !strings.HasSuffix(shown["webhookUrl"].(string), "="+token) || !strings.HasSuffix(shown["hookUrl"].(string), "/"+token) {
		t.Errorf("the webhook is %v", shown)
	}
	signed := s.send("POST", "/api/v3/command/webhook.sign?eventKey="+h.EventKey, strings.NewReader("x"), asAdmin, header("Content-Type", "text/plain")).wantStatus(t, 200).object(t)
	if !strings.HasSuffix(signed["url"].(string), token) {
		t.Errorf("a test call goes to %v", signed["url"])
	}
	for id, event := range s.events() {
		if encoded := string(event.data); strings.Contains(encoded, token) || strings.Contains(encoded, h.UUID) {
			t.Errorf("a token is in the event of %s: %s", id, encoded)
		}
	}
	s.stop()
	s.resume()
	calls(h.UUID, 401)
	calls(token, 200)
	s.command("webhook.token.add", map[string]any{"uuid": h.UUID, "token": h.UUID}).wantStatus(t, 200)
	s.command("webhook.token.delete", map[string]any{"uuid": h.UUID, "token": token}).wantStatus(t, 200)
	calls(token, 401)
	calls(h.UUID, 200)
	s.command("webhook.delete", map[string]any{"uuid": h.UUID}).wantStatus(t, 200)
	calls(h.UUID, 401)
	if log := s.log.String(); strings.Contains(log, token) || strings.Contains(log, h.UUID) {
		t.Error("a token is in the log")
	}
	audit := string(s.command("audit.get", map[string]any{"command": "webhook.token.delete"}).wantStatus(t, 200).body)
	if strings.Contains(audit, token) || !strings.Contains(audit, token[30:]) {
		t.Errorf("the audit log has %s", audit)
	}
}

// TestTokenRules: which tokens a webhook can have.
func TestTokenRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	h, other := s.create("webhook.one"), s.create("webhook.two")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a quiet evening", "roles": "viewer"}).wantStatus(t, 200)
	s.command("iam.role.put", map[string]any{"role": "adder", "permissions": "webhook.put,webhook.get,webhook.token.add"}).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "adam", "password": "a quiet evening", "roles": "adder"}).wantStatus(t, 200)
	const free, moved = "11111111-2222-4333-8444-555555abcdef", "99999999-2222-4333-8444-555555abcdef"
	past := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	runScenarios(t, s, []string{"{uuid}", h.UUID, "{last6}", h.UUID[30:], "{other}", other.UUID, "{free}", free, "{moved}", moved}, []scenario{
		{name: "no webhook is named", target: "webhook.token.add", status: 400, code: "parameter-missing", parameter: "eventKey"},
		{name: "both names", target: "webhook.token.add?uuid={uuid}&eventKey=webhook.one", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "an unknown webhook", target: "webhook.token.add?eventKey=webhook.none", status: 404, code: "webhook-not-found", parameter: "eventKey"},
		{name: "no UUID", target: "webhook.token.add?uuid={uuid}&token=mine", status: 400, code: "parameter-invalid", parameter: "token"},
		{name: "its own uuid, which is open", target: "webhook.token.add?uuid={uuid}&token={uuid}", status: 409, code: "token-taken", parameter: "token"},
		{name: "the uuid of another", target: "webhook.token.add?uuid={uuid}&token={other}", status: 409, code: "token-taken", parameter: "token"},
		{name: "one that is over", target: "webhook.token.add?uuid={uuid}&expires=" + past, status: 400, code: "parameter-invalid", parameter: "expires"},
		{name: "no time", target: "webhook.token.add?uuid={uuid}&expires=soon", status: 400, code: "parameter-invalid", parameter: "expires"},
		{name: "by a viewer", target: "webhook.token.add?uuid={uuid}", auth: basic("vera", "a quiet evening"), status: 403, code: "forbidden"},
		{name: "a chosen one by who may not see tokens", target: "webhook.token.add?uuid={uuid}&token={free}", auth: basic("adam", "a quiet evening"), status: 403, code: "forbidden", parameter: "token"},
		{name: "the last one is not closed", target: "webhook.token.delete?uuid={uuid}&token={uuid}", status: 409, code: "last-token", parameter: "token"},
		{name: "a chosen one", target: "webhook.token.add?uuid={uuid}&token={free}", status: 200, fields: map[string]any{"token": free, "last6": "abcdef"}},
		{name: "of two webhooks", target: "webhook.token.add?uuid={other}&token={free}", status: 409, code: "token-taken", parameter: "token"},
		{name: "a new webhook with it", target: "webhook.put?eventKey=webhook.new&token={free}", status: 409, code: "token-taken", parameter: "token"},
		{name: "a new webhook with a uuid that is taken", target: "webhook.put?eventKey=webhook.new&token={other}", status: 409, code: "token-taken", parameter: "token"},
		{name: "a token for an edit", target: "webhook.put?uuid={uuid}&token={moved}", status: 400, code: "parameter-invalid", parameter: "token"},
		{name: "a new webhook with no UUID", target: "webhook.put?eventKey=webhook.new&token=x", status: 400, code: "parameter-invalid", parameter: "token"},
		{name: "moving, by who may not see tokens", target: "webhook.put?eventKey=webhook.new&token={moved}", auth: basic("adam", "a quiet evening"), status: 403, code: "forbidden", parameter: "token"},
		{name: "moving", target: "webhook.put?eventKey=webhook.new&token={moved}", status: 200, fields: map[string]any{"uuid": moved}},
		{name: "an ambiguous end", target: "webhook.token.add?uuid={uuid}&token=22222222-2222-4333-8444-555555abcdef", status: 200},
		{name: "an end of two", target: "webhook.token.delete?uuid={uuid}&token=abcdef", status: 400, code: "parameter-invalid", parameter: "token"},
		{name: "all of it", target: "webhook.token.delete?uuid={uuid}&token={free}", status: 200, fields: map[string]any{"last6": "abcdef", "deleted": true}},
		{name: "once more", target: "webhook.token.delete?uuid={uuid}&token={free}", status: 404, code: "token-unknown", parameter: "token"},
	})
	s.call(hook{UUID: moved}, "text/plain", "x").wantStatus(t, 200)
	for range 8 {
		s.command("webhook.token.add", map[string]any{"uuid": h.UUID, "expires": "30d"}).wantStatus(t, 200)
	}
	s.command("webhook.token.add", map[string]any{"uuid": h.UUID}).wantProblem(t, http.StatusConflict, "too-many-tokens")
	seen := string(s.send("GET", "/api/v3/command/webhook.get?eventKey="+h.EventKey, nil, header("Authorization", basic("vera", "a quiet evening"))).wantStatus(t, 200).body)
	if strings.Contains(seen, "22222222-2222") || strings.Contains(seen, h.UUID) || !strings.Contains(seen, `"last6":"abcdef"`) {
		t.Errorf("a viewer sees %s", seen)
	}
}

// TestATokenExpires, and is then as good as an unknown one.
func TestATokenExpires(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.brief")
	added := s.command("webhook.token.add", map[string]any{"uuid": h.UUID, "expires": "50ms"}).wantStatus(t, 200).object(t)
	brief := hook{UUID: added["token"].(string)}
	if added["expires"] == nil {
		t.Errorf("the answer has no time: %v", added)
	}
	eventually(t, "the token is closed", func() bool { return s.call(brief, "text/plain", "x").status == http.StatusUnauthorized })
	s.call(brief, "text/plain", "x").wantProblem(t, 401, "token-invalid")
	if token := s.tokensOf(h)[brief.UUID[30:]]; token["open"] != false {
		t.Errorf("it is shown as %v", token)
	}
}
