package serve_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// audit returns the audit log about a command, as text.
func (s *service) audit(command string) string {
	s.t.Helper()
	return string(s.command("audit.get", map[string]any{"command": command}).wantStatus(s.t, 200).body)
}

// TestWhoDidIt: runs, replays and admissions by people have their user in the trace; the
// audit log has what was run, and which secrets were used, once an hour, and where they went.
func TestWhoDidIt(t *testing.T) {
	t.Parallel()
	target := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	asDev := s.member("dev", "partner", "developer")
	hook, closed := s.create("webhook.partner.in"), s.create("webhook.partner.off", "disabled", true)
	s.command("secret.put", map[string]any{"name": "partner.key", "value": "the-key"}).wantStatus(t, 200)
	leak := "pipeline: [http.request: {url: '" + target.url + "', method: POST, body: \"#{secret('partner.key')}\"}]"

	for range 2 {
		s.send("POST", "/api/v3/pipeline", strings.NewReader(leak), asDev).wantStatus(t, 200)
	}
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(leak)))
	if log := s.audit("pipeline.run"); strings.Count(log, sum) != 2 || !strings.Contains(log, `"username":"dev"`) || !strings.Contains(log, `"traceId":"direct:`) {
		t.Errorf("the audit log of runs is %s", log)
	}
	host := strings.TrimPrefix(target.url, "http://")
	if log := s.audit("secret.use"); strings.Count(log, `"target":"partner.key `+host+`"`) != 1 || !strings.Contains(log, `"username":"dev"`) {
		t.Errorf("the audit log of secrets is %s", log)
	}
	s.put("partner.job", listening("webhook.partner.in", "set: {value: \"#{secret('partner.key') != ''}\"}"), asAdmin).wantStatus(t, 200)
	call := s.call(hook, "text/plain", "").result(t)
	if log := s.audit("secret.use"); !strings.Contains(log, `"username":"admin"`) || !strings.Contains(log, `"pipeline":"partner.job"`) {
		t.Errorf("the audit log of secrets is %s", log)
	}

	users := func(as func(*http.Request), query string) string {
		return string(s.send("GET", "/api/v3/command/trace.get?"+query, nil, as).wantStatus(t, 200).body)
	}
	eventually(t, "the run by hand", func() bool { return strings.Contains(users(asDev, "traceId=direct"), `"user":"dev"`) })
	if text := users(asDev, "traceId="+call.TraceID); strings.Contains(text, `"user":"admin"`) && !strings.Contains(text, "iam.run.as") {
		t.Errorf("a call has a user: %s", text)
	}
	s.command("event.replay", map[string]any{"traceId": call.TraceID}, asDev).wantStatus(t, 200)
	eventually(t, "the replay", func() bool {
		return strings.Contains(users(asAdmin, "eventKey=webhook.partner.in"), `"replayOf":"`+call.TraceID+`","user":"dev"`)
	})
	s.call(closed, "text/plain", "refused").wantStatus(t, 403)
	s.command("quarantine.admit", map[string]any{"eventKey": "webhook.partner.off", "force": true}, asDev).wantStatus(t, 200)
	eventually(t, "the admission", func() bool {
		return strings.Contains(users(asAdmin, "eventKey=webhook.partner.off&status=ok"), `"user":"dev"`)
	})

	s.command("webhook.delete", map[string]any{"uuid": hook.UUID}, asDev).wantStatus(t, 200)
	if log := s.audit("webhook.delete"); !strings.Contains(log, `"target":"webhook.partner.in"`) {
		t.Errorf("a deleted webhook is named %s", log)
	}
	if check := s.command("audit.verify", nil).wantStatus(t, 200).object(t); check["valid"] != true {
		t.Errorf("the audit log is %v", check)
	}
}

// TestLookingIsNoUse: linting, storing and showing do not change when a secret was last used.
func TestLookingIsNoUse(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.command("secret.put", map[string]any{"name": "key", "value": "whsec_c2VjcmV0c2VjcmV0c2VjcmV0"}).wantStatus(t, 200)
	s.create("webhook.signed", "provider", "standard-webhooks", "signingSecret", "secret:key")
	const source = "pipeline: [set: {value: \"#{secret('key')}\"}]"
	s.store("uses", source)
	s.send("POST", "/api/v3/command/pipeline.lint", strings.NewReader(source), asAdmin).wantStatus(t, 200)
	s.send("GET", "/api/v3/command/webhook.get?eventKey=webhook.signed", nil, asAdmin).wantStatus(t, 200)
	s.stop() // which stores all uses
	s.resume()
	if got := s.command("secret.get", map[string]any{"name": "key"}).wantStatus(t, 200).object(t); got["lastUsed"] != nil {
		t.Errorf("looking has used it: %v", got)
	}
	s.send("POST", "/api/v3/pipeline/uses", nil, asAdmin).wantStatus(t, 200)
	s.stop()
	s.resume()
	if got := s.command("secret.get", map[string]any{"name": "key"}).wantStatus(t, 200).object(t); got["lastUsed"] == nil {
		t.Errorf("a run has not used it: %v", got)
	}
}
