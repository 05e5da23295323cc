package portal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestScreenshots takes pictures of every page in both themes, and on a phone,
// into the folder that SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" && os.Getenv("TEST_BROWSER") != "" {
		folder = t.TempDir() // nobody looks at them, but all pages are there
	}
	if folder == "" {
		t.Skip("SKIPPED: SCREENSHOTS names no folder for the pictures")
	}
	s := start(t)
	b := s.browse()
	shoot := func(name string) {
		t.Helper()
		for _, view := range []struct {
			name          string
			theme         string
			width, height int64
		}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"phone", "light", 390, 844}} {
			b.theme(view.theme)
			b.do(chromedp.EmulateViewport(view.width, view.height))
			picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name+"-"+view.name+".png"), picture, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b.do(chromedp.EmulateViewport(1280, 900))
	}
	b.open("/")
	shoot("signin")
	b.signIn("admin", adminPassword)
	for name, path := range map[string]string{
		"empty-overview": "/", "empty-webhooks": "/webhooks", "empty-calls": "/calls", "empty-pipelines": "/pipelines",
		"empty-deadletters": "/deadletters", "empty-secrets": "/secrets", "start": "/start",
	} {
		b.open(path)
		shoot(name)
	}
	live := furnish(t, s)
	for name, path := range map[string]string{
		"overview": "/", "overview-day": "/?span=day", "calls": "/calls", "webhooks": "/webhooks", "webhook": "/webhooks/webhook.lead.created",
		"webhook-token": "/webhooks/webhook.lead.created?show=token",
		"webhook-new":   "/webhooks/new", "webhook-edit": "/webhooks/webhook.lead.created/edit", "webhook-delete": "/webhooks/webhook.lead.created/delete",
		"pipelines": "/pipelines", "pipeline": "/pipelines/lead.created", "pipeline-edit": "/pipelines/lead.created/edit", "pipeline-new": "/pipelines/new",
		"deadletters": "/deadletters", "deadletter": "/deadletters/1", "commands": "/commands", "command": "/commands/webhook.put",
		"reference": "/reference", "users": "/users", "user": "/users/vera", "user-new": "/users/new", "roles": "/roles", "role": "/roles/developer",
		"clients": "/clients", "client": "/clients/importer", "secrets": "/secrets", "secret-new": "/secrets/new", "audit": "/audit", "me": "/me",
		"call": "/calls/" + live[0], "call-failed": "/calls/" + live[1], "start-waiting": "/start?key=webhook.quiet", "error": "/nowhere",
	} {
		b.open(path)
		shoot(name)
	}
	b.open("/pipelines/lead.created/edit")
	b.fill("#source", "pipeline:\n  - event.listen:\n      eventKey: webhook.lead.created\n  - lgo:\n      message: hi\n  - set:\n      vlaue: 1\n")
	b.follow("button[value=save]")
	shoot("pipeline-mistake")
	b.open("/commands/webhook.get")
	b.follow("main form button.main")
	shoot("command-ran")
	b.open("/webhooks/webhook.lead.created")
	b.follow("form[action$='try#try'] button")
	shoot("webhook-tried")
}

// furnish fills a service with things to look at, and gives the trace ids of a
// call that went well and one that failed.
func furnish(t *testing.T, s *service) []string {
	t.Helper()
	for _, key := range []string{"webhook.invoice.paid", "webhook.order.shipped", "webhook.quiet", "webhook.support.ticket", "Orders-Import"} {
		s.command("webhook.put", map[string]any{"eventKey": key})
	}
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.lead.created", "payloadType": "raw"})
	s.store("lead.created", `description: Checks a lead and hands the good ones on.
pipeline:
  - event.listen:
      eventKey: webhook.lead.created
  # Only leads with a budget are worth a call.
  - assert:
      id: budget
      "true": "#{body.payload.budget > 1000}"
      message: "The budget is too small."
  - set:
      value:
        name: "#{body.payload.name}"
        good: true
  - wait:
      duration: 30ms
  - convert.toJson
tests:
  - name: a good lead
    event: {payload: {name: Ada, budget: 5000}}
    expect: {body: '{"good":true,"name":"Ada"}'}
`)
	s.store("audit.all", "description: Notes everything that comes in.\npipeline:\n  - event.listen:\n      eventKey: webhook.#\n  - log:\n      message: \"#{body.traceId}\"\n")
	s.store("report.weekly", "description: Run by hand.\npipeline:\n  - set:\n      value: done\n")
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	s.command("iam.user.put", map[string]any{"username": "dev", "password": "a long password", "roles": []string{"developer"}})
	s.command("iam.client.put", map[string]any{"clientId": "importer", "roles": []string{"developer"}})
	s.command("secret.put", map[string]any{"name": "crm.password", "value": "x"})
	token := hook["uuid"].(string)
	bad := s.call(token, "application/json", `{"name":"Bob","budget":10}`)
	good := ""
	for range 30 {
		good = s.call(token, "application/json", `{"name":"Ada","budget":12000,"notes":"<b>bold</b>"}`)
	}
	s.call("00000000-0000-4000-8000-000000000000", "text/plain", "wrong")
	return []string{good, bad}
}
