package portal_test

import (
	"strings"
	"testing"
	"time"

	"sluice/jetstream/natstest"
	"sluice/serve"
)

// TestAlertPage: the page shows what is wrong, leads to it, and mutes it for those who may;
// afterwards it is history.
func TestAlertPage(t *testing.T) {
	t.Parallel()
	s := startFor(t, serve.Timeouts{Alert: 300 * time.Millisecond})
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.lead", "payloadType": "raw"})
	s.store("lead", "pipeline:\n- event.listen: {eventKey: webhook.lead}\n- fail: {message: no}\n")
	v := s.signedIn("admin", adminPassword)
	v.get("/alerts").wants(t, 200, "All is well")
	s.call(hook["uuid"].(string), "application/json", "{}")
	natstest.Eventually(t, "the alerts", func() bool {
		body := v.get("/alerts").body
		return strings.Contains(body, "lead has dead letters") && strings.Contains(body, "lead fails")
	})
	page := v.get("/alerts").wants(t, 200, `href="/deadletters?pipeline=lead"`, `href="/pipelines/lead#failure"`, "failed in line 3; 1 dead letter, since ", "sluice retry --pipeline lead", "sluice alert to", ">Mute<", `<a href="/alerts" aria-current="page"`)
	_, action, _ := strings.Cut(page.body, `action="/alerts/`)
	id, _, _ := strings.Cut(action, "/mute")
	v.post("/alerts/"+id+"/mute", "for", "1h").wants(t, 303)
	v.get("/alerts").wants(t, 200, "Muted until")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	vera := s.signedIn("vera", "a long password")
	vera.get("/alerts").wants(t, 200, "has dead letters").lacks(t, ">Mute<", "sluice alert to")
	vera.get("/alerts").wants(t, 200, "sluice deadletter groups says why. The rest takes another role").lacks(t, "sluice retry", "deadletter replay")
	vera.post("/alerts/"+id+"/mute", "for", "1h").wants(t, 403)
	s.command("deadletter.delete", map[string]any{"pipeline": "lead"})
	natstest.Eventually(t, "the letters to be history", func() bool {
		_, over, _ := strings.Cut(v.get("/alerts").body, "Alerts that are over")
		return strings.Contains(over, "has dead letters")
	})
}
