package portal_test

import (
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sluice"
	"sluice/jetstream"
	"sluice/seal"
)

// TestScreenshots takes pictures of every page in both themes, and on a phone,
// into the folder that SCREENSHOTS names. Without one it goes to all those pages.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" && os.Getenv("TEST_BROWSER") == "" {
		t.Skip("SKIPPED: SCREENSHOTS names no folder for the pictures")
	}
	data := t.TempDir()
	s := start(t, "data="+data, "http-allow=127.0.0.0/8")
	b := s.browse()
	only := regexp.MustCompile(os.Getenv("SCREENSHOTS_OF"))
	shoot := func(name string) {
		t.Helper()
		if folder == "" || !only.MatchString(name) {
			return // nobody looks at it, but the page was there
		}
		for _, view := range []struct {
			name          string
			theme         string
			width, height int64
		}{{"light", "light", 1440, 900}, {"dark", "dark", 1440, 900}, {"phone", "light", 390, 844}, {"phone-dark", "dark", 390, 844}, {"wide", "light", 1920, 1080}} {
			if view.name == "wide" && name != "calls" && name != "overview" {
				continue
			}
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
		b.do(chromedp.EmulateViewport(1440, 900))
	}
	b.open("/nowhere")
	shoot("error-outside")
	b.open("/")
	shoot("signin")
	b.signIn("admin", adminPassword)
	for name, path := range map[string]string{
		"empty-overview": "/", "empty-webhooks": "/webhooks", "empty-calls": "/calls", "empty-pipelines": "/pipelines",
		"empty-deadletters": "/deadletters", "empty-secrets": "/secrets", "start": "/start", "authorize": s.program("sluice").path(),
	} {
		b.open(path)
		shoot(name)
	}
	s.stop()
	busyDay(t, data)
	s.resume()
	live := furnish(t, s)
	for name, path := range map[string]string{
		"overview": "/", "overview-day": "/?span=day", "calls": "/calls", "webhooks": "/webhooks", "webhook": "/webhooks/webhook.lead.created",
		"webhook-token": "/webhooks/webhook.lead.created?show=token",
		"webhook-new":   "/webhooks/new", "webhook-edit": "/webhooks/webhook.lead.created/edit", "webhook-delete": "/webhooks/webhook.lead.created/delete",
		"calls-search": "/calls?search=budget", "calls-none": "/calls?search=nowhere", "call-sent": "/calls/" + live[2], "call-refused": "/calls/" + live[3], "call-edit": "/calls/" + live[0] + "/edit",
		"quarantine": "/quarantine", "quarantined": "/quarantine/" + live[3], "webhook-github": "/webhooks/webhook.github", "webhook-waiting": "/webhooks/webhook.stripe", "webhook-connected": "/webhooks/webhook.connected", "webhook-provider": "/webhooks/new?provider=stripe",
		"pipelines": "/pipelines", "pipeline": "/pipelines/lead.created", "pipeline-edit": "/pipelines/lead.created/edit", "pipeline-new": "/pipelines/new",
		"deadletters": "/deadletters", "deadletter": "/deadletters/1", "commands": "/commands", "command": "/commands/webhook.put",
		"reference": "/reference", "users": "/users", "user": "/users/vera", "user-new": "/users/new", "user-delete": "/users/dev/delete", "user-own": "/users/admin", "secret": "/secrets/crm.password", "client-new": "/clients/new", "role-new": "/roles/new", "roles": "/roles", "role": "/roles/developer",
		"clients": "/clients", "client": "/clients/importer", "secrets": "/secrets", "secret-new": "/secrets/new", "audit": "/audit", "alerts": "/alerts", "me": "/me",
		"settings": "/settings", "team-new": "/teams/new", "work": "/work", "search": "/search?q=lead", "webhook-tokens": "/webhooks/webhook.lead.created/tokens",
		"webhook-missed": "/webhooks/webhook.github/missed", "call-erase": "/calls/" + live[0] + "/erase",
		"pipeline-failing": "/pipelines/order.forward", "pipeline-delete": "/pipelines/lead.created/delete", "replay-all": "/calls/replay?status=error",
		"call": "/calls/" + live[0], "call-failed": "/calls/" + live[1], "start-waiting": "/start?key=webhook.quiet", "error": "/nowhere",
	} {
		if only.MatchString(name) {
			b.open(path)
			shoot(name)
		}
	}
	b.open("/calls")
	b.do(chromedp.Click(chromedp.CSS("tbody tr:nth-child(2) input")), chromedp.Click(chromedp.CSS("tbody tr:nth-child(4) input")), chromedp.Click(chromedp.CSS(".facets summary")))
	shoot("calls-selected")
	b.open("/users/new")
	b.fill("#field-username", "not a name")
	b.follow("main form button.main")
	shoot("user-mistake")
	b.open("/clients/importer")
	b.followText("Make a new secret")
	shoot("client-secret")
	b.press("?")
	b.waits("dialog[open]")
	shoot("shortcuts")
	b.open("/quarantine")
	b.follow(".cards button[value=admit]")
	shoot("outcomes")
	b.open("/quarantine")
	b.followText("Delete all 3…")
	shoot("quarantine-delete")
	b.open("/deadletters?pipeline=order.forward")
	b.follow(".cards button[value=replay]")
	b.until(`document.querySelector("#result").textContent.includes("1 failed")`)
	shoot("replayed")
	b.open("/pipelines/lead.created/edit")
	b.fill("#source", "pipeline:\n  - event.listen:\n      eventKey: webhook.lead.created\n  - lgo:\n      message: hi\n  - set:\n      vlaue: 1\n")
	b.follow("button[value=save]")
	b.waits("[data-lint].bad")
	shoot("pipeline-mistake")
	b.fill("#source", "pipeline:\n  - event.listen:\n      eventKey: webhook.lead.created\n  - set:\n      value: \"#{body.payload.name}\"\n")
	b.follow("button[value=try]")
	shoot("pipeline-tried")
	b.follow("#tried button[value=save]")
	shoot("pipeline-saved")
	b.open("/pipelines/lead.created/versions/1")
	shoot("pipeline-version")
	b.open("/commands/webhook.get")
	b.follow("main form button.main")
	shoot("command-ran")
	b.open("/webhooks/webhook.lead.created")
	b.follow("form[action$='try#try'] button")
	shoot("webhook-tried")
}

// busyDay writes to the store of a stopped service what a day of calls leaves
// there, so that the plots have something to show.
func busyDay(t *testing.T, data string) {
	t.Helper()
	box := func(bool) (*seal.Box, error) {
		text, err := os.ReadFile(filepath.Join(data, "secret.key"))
		if err != nil {
			return nil, err
		}
		key, err := seal.ParseKey(string(text))
		if err != nil {
			return nil, err
		}
		return seal.New(key)
	}
	engine, err := jetstream.Open(t.Context(), jetstream.Options{Dir: filepath.Join(data, "engine"), Box: box, EventMaxAge: time.Hour, ResultTTL: time.Hour, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	now := time.Now().UTC().Truncate(time.Minute)
	random := rand.New(rand.NewPCG(1, 2))
	for age := range 24 * 60 {
		start := now.Add(-time.Duration(age+1) * time.Minute)
		load := 60 + 40*math.Sin(float64(age)/9) + 30*math.Sin(float64(age)/170)
		minute := sluice.Minute{Time: start, CallFigures: sluice.CallFigures{Accepted: max(1, int(load+20*random.Float64())), Rejected: random.IntN(4) / 3}, Runs: int(load), Latencies: make([]int, 20)}
		for range minute.Accepted {
			minute.Latencies[min(max(0, int(5+2*random.NormFloat64())), 19)]++ // about 1.4 ms
		}
		key := strconv.FormatInt(start.Unix()/60%(24*60), 10)
		_, err := engine.Minutes.Change(t.Context(), key, func(*sluice.Minute, map[string]*sluice.Minute) (*sluice.Minute, error) { return &minute, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// furnish fills a service with things to look at, and gives the trace ids of a
// call that went well and one that failed.
func furnish(t *testing.T, s *service) []string {
	t.Helper()
	var others []string // tokens
	for _, key := range []string{"webhook.invoice.paid", "webhook.order.shipped", "webhook.support.ticket", "webhook.quiet", "Orders-Import"} {
		hook := s.command("webhook.put", map[string]any{"eventKey": key})
		others = append(others, hook["uuid"].(string))
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
	s.command("webhook.put", map[string]any{"eventKey": "webhook.stripe", "provider": "stripe", "signingSecret": "x"})
	connected := s.command("webhook.put", map[string]any{"eventKey": "webhook.connected", "provider": "stripe", "signingSecret": "whsec_x"})
	s.sendAsStripe(connected["webhookUrl"].(string), "whsec_x").wants(t, 200)
	token := hook["uuid"].(string)
	bad := s.call(token, "application/json", `{"name":"Bob","budget":10}`)
	good := ""
	for i := range 30 {
		good = s.call(token, "application/json", `{"name":"Ada","budget":12000,"notes":"<b>bold</b>"}`)
		if i%10 == 5 {
			s.call("00000000-0000-4000-8000-000000000000", "text/plain", "wrong")
		}
		s.call(others[i%3], "application/json", `{"number":`+strconv.Itoa(i*i*i)+`}`)
	}
	return []string{good, bad, passedOn(t, s), forged(t, s)}
}

// passedOn returns the trace id of a call that a pipeline has sent to another
// system, which did not take it.
func passedOn(t *testing.T, s *service) string {
	t.Helper()
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error":"The warehouse is closed for maintenance."}`))
	}))
	t.Cleanup(outside.Close)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.order.passed.on", "payloadType": "raw"})
	s.store("order.forward", `description: Passes orders on to the warehouse.
retry: {times: 1, backoff: 10ms}
pipeline:
  - event.listen: {eventKey: webhook.order.passed.on}
  - iam.run.as: {username: admin}
  - http.forward: {url: "`+outside.URL+`/orders"}
`)
	return s.call(hook["uuid"].(string), "application/json", `{"order":4711,"items":[{"sku":"A-1","count":2}]}`)
}

// forged returns the trace id of a call that was refused for its signature.
func forged(t *testing.T, s *service) string {
	t.Helper()
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.github", "payloadType": "raw", "provider": "github", "signingSecret": "a secret of twenty characters"})
	for range 3 {
		s.call(hook["uuid"].(string), "application/json", `{"zen":"Keep it logically awesome."}`)
	}
	refused := s.command("quarantine.get", map[string]any{"eventKey": "webhook.github"})["items"].([]any)
	return refused[0].(map[string]any)["id"].(string)
}
