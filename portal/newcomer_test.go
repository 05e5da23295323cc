package portal_test

import (
	"strings"
	"testing"
)

// TestRolesBeginAsACopy: the form of a new role has the permissions of another one, by what people do.
func TestRolesBeginAsACopy(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	v.get("/roles/new").wants(t, 200, `href="/roles/new?like=developer"`, "Receive calls", "Steps in pipelines").lacks(t, `value="webhook.*" checked`, ">assert <")
	v.get("/roles/new?like=developer").wants(t, 200, `name="role"`, `aria-current="true">developer`)
	if body := v.get("/roles/new?like=developer").body; !strings.Contains(strings.Join(strings.Fields(body), " "), `value="webhook.*" checked`) {
		t.Error("the copy has no permissions")
	}
	v.get("/roles/new?like=nobody").wants(t, 404)
	v.get("/roles/developer").wants(t, 200, `href="/roles/new?like=developer"`)
}

// TestFindingWhileTyping: what is found by a part of its name has its kind and state, and no call is looked for.
func TestFindingWhileTyping(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.lead", "disabled": true})
	s.store("lead.forward", "pipeline:\n- event.listen: {eventKey: webhook.lead}\n- set: {value: 1}\n")
	v := s.signedIn("admin", adminPassword)
	v.get("/search?live=1&q=lead").wants(t, 200, `id="found"`, `href="/webhooks/webhook.lead"`, "disabled", `href="/pipelines/lead.forward"`, "listening", "pipeline")
	v.get("/search?live=1&q=webhook.lead").wants(t, 200, `id="found"`) // only Enter leads there
	v.get("/search?q=webhook.lead").wants(t, 303)
}

// TestInternalEvents: the list of calls has none, unless somebody wants them.
func TestInternalEvents(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=20s")
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.lead", "payloadType": "raw"})
	s.store("lead", "pipeline:\n- event.listen: {eventKey: webhook.lead}\n- iam.run.as: {username: admin}\n- event.send: {eventKey: order.ready, payload: {a: 1}}\n")
	s.call(hook["uuid"].(string), "application/json", "{}")
	v := s.signedIn("admin", adminPassword)
	const key = `order.ready`
	v.get("/calls").wants(t, 200, "webhook.lead", "data-calls-only").lacks(t, key)
	v.get("/").wants(t, 200, "webhook.lead").lacks(t, key)
	for _, path := range []string{"/calls?sent=yes", "/calls?eventKey=order.ready", "/calls?search=order"} {
		v.get(path).wants(t, 200, key).lacks(t, "data-calls-only")
	}
}

// TestSettingsPage: administrators see what is in effect, others nothing of it.
func TestSettingsPage(t *testing.T) {
	t.Parallel()
	s := start(t, "smtp-url=smtps://ops:hunter2@mail.example.org", "mail-from=a@example.org")
	v := s.signedIn("admin", adminPassword)
	v.get("/settings").wants(t, 200, "event-max-age", ">168h<", ">1GiB<", ">0: half of the volume, or as much as an external engine takes<", "(set)", `<a href="/settings" aria-current="page"`).lacks(t, "hunter2", "mail.example.org")
	s.command("iam.user.put", map[string]any{"username": "dev", "password": "a long password", "roles": []string{"developer"}})
	dev := s.signedIn("dev", "a long password")
	dev.get("/settings").wants(t, 403)
	dev.get("/").lacks(t, `href="/settings"`)
}

// TestTestPayloads: a test call is what the schema describes, or what was sent last.
func TestTestPayloads(t *testing.T) {
	t.Parallel()
	s := start(t, "result-wait=20s")
	schema := map[string]any{"type": "object", "properties": map[string]any{
		"size": map[string]any{"enum": []any{"XL", "L"}}, "at": map[string]any{"type": "string", "format": "date-time"}, "count": map[string]any{"type": "integer", "minimum": 7},
		"items": map[string]any{"type": "array", "items": map[string]any{"type": "boolean"}}, "self": map[string]any{"$ref": "#"},
	}, "required": []any{"size"}}
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.lead", "payloadType": "raw", "schema": schema})
	v := s.signedIn("admin", adminPassword)
	v.get("/webhooks/webhook.lead").wants(t, 200, "&#34;size&#34;: &#34;XL&#34;", "&#34;at&#34;: &#34;text&#34;", "&#34;count&#34;: 7", "true").lacks(t, "budget")
	s.call(hook["uuid"].(string), "application/json", `{"size":"L","count":9}`)
	v.get("/webhooks/webhook.lead").wants(t, 200, "{&#34;size&#34;:&#34;L&#34;,&#34;count&#34;:9}").lacks(t, "budget")
}
