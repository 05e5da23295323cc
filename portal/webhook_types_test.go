package portal_test

import "testing"

// TestTypesOfAWebhook: its page says which kinds of events came, and which of them no pipeline takes.
func TestTypesOfAWebhook(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.code", "eventType": "body:kind", "payloadType": "raw"})
	s.store("pushed", "pipeline:\n- event.listen: {eventKey: webhook.code, type: push}\n- set: {value: 1}\n")
	v := s.signedIn("admin", adminPassword)
	v.get("/webhooks/webhook.code").wants(t, 200).lacks(t, "Types of events")
	for _, kind := range []string{"push", "star", "<b>"} {
		s.call(s.token("webhook.code"), "application/json", `{"kind":"`+kind+`"}`)
	}
	v.get("/webhooks/webhook.code").wants(t, 200, "Types of events", "<code>&lt;b&gt;</code>, <code>star</code>: what nobody needs",
		"&amp;type=push", `data-label="Events"`, `data-label="Last"`, `data-label="Pipelines that take it"`).lacks(t, "<code><b>", "<code>push</code>,")
}
