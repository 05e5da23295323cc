package portal_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// everyPage are the paths of every page of a furnished service.
func everyPage(live []string) []string {
	return []string{
		"/", "/?span=month", "/calls", "/calls?search=budget&status=error", "/calls?search=nowhere", "/calls/" + live[0], "/calls/" + live[1], "/calls/" + live[2], "/calls/" + live[3],
		"/calls/" + live[0] + "/edit", "/calls/replay?status=error", "/webhooks", "/webhooks/new", "/webhooks/new?provider=github", "/webhooks/new?provider=discord", "/webhooks/webhook.lead.created", "/webhooks/webhook.lead.created?show=token", "/webhooks/webhook.github", "/webhooks/webhook.stripe", "/webhooks/webhook.stripe?done=secret", "/webhooks/webhook.connected", "/webhooks/webhook.github/edit",
		"/webhooks/webhook.github/delete", "/start", "/start?key=webhook.quiet", "/pipelines", "/pipelines/new", "/pipelines/lead.created", "/pipelines/lead.created/edit", "/pipelines/lead.created/versions/1",
		"/pipelines/order.forward", "/pipelines/order.forward/delete", "/deadletters", "/deadletters/1", "/alerts", "/quarantine", "/quarantine/" + live[3], "/commands", "/commands/webhook.put", "/commands/trace.get", "/reference", "/reference/pipeline", "/reference/general", "/users",
		"/users/vera", "/users/new", "/users/admin", "/users/anonymousUser", "/users/dev/delete", "/users?search=nothing", "/roles/admin", "/secrets/crm.password", "/secrets/crm.password/delete", "/audit?outcome=failed", "/deadletters/1/delete", "/roles", "/roles/developer", "/roles/new", "/clients", "/clients/importer", "/clients/new", "/secrets", "/secrets/new", "/audit", "/me", "/nowhere", "/signin",
		"/settings", "/search?q=lead", "/search?q=nothing-at-all", "/teams/new", "/work", "/webhooks/webhook.lead.created/tokens", "/webhooks/webhook.github/missed", "/calls/" + live[0] + "/erase",
	}
}

// TestMarkup checks every page, in both themes where that counts. Variables name the checkers:
// HTML_VALIDATE the program html-validate, VNU the jar of the W3C's checker, AXE the script
// axe-core, and PA11Y a folder of modules with pa11y. No page is wider than a small phone.
func TestMarkup(t *testing.T) {
	t.Parallel()
	validator, axe := os.Getenv("HTML_VALIDATE"), os.Getenv("AXE")
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	v := s.signedIn("admin", adminPassword)
	folder := t.TempDir()
	for i, path := range everyPage(live) {
		if err := os.WriteFile(filepath.Join(folder, "page"+strconv.Itoa(i)+".html"), []byte(v.get(path).body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, mistake := range [][]string{{"/users/new", "username", "a b"}, {"/roles/new", "role", "r", "permissions", "no!"}, {"/clients/new", "clientId", "robot"}, {"/secrets/new", "name", "crm.password", "value", "x"}, {"/webhooks/new", "eventKey", "a b"}, {"/pipelines/new", "name", "n", "source", "nothing"}, {"/me", "password", "a"}} {
		if err := os.WriteFile(filepath.Join(folder, "form"+strconv.Itoa(i)+".html"), []byte(v.post(mistake[0], mistake[1:]...).body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if validator != "" {
		cmd := exec.CommandContext(t.Context(), validator, "--preset", "standard", "-f", "text", "*.html")
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
	}
	if jar := os.Getenv("VNU"); jar != "" {
		if out, err := exec.CommandContext(t.Context(), "java", "-jar", jar, "--errors-only", folder).CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
	}
	if os.Getenv("PA11Y") != "" {
		v.pa11y(everyPage(live))
	}
	b := s.browse()
	b.signIn("admin", adminPassword)
	for i, path := range everyPage(live) {
		b.open(path)
		b.do(chromedp.EmulateViewport(320, 640))
		if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 320 {
			t.Errorf("%s (%d) is %d pixels wide on a phone of 320", path, i, wide)
		}
		b.do(chromedp.EmulateViewport(1280, 900))
		if axe != "" {
			b.axe(axe, path)
		}
	}
	for name, act := range pagesOfActs(s, b) {
		act()
		b.do(chromedp.EmulateViewport(320, 640))
		if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 320 {
			t.Errorf("%s is %d pixels wide on a phone of 320", name, wide)
		}
		b.do(chromedp.EmulateViewport(1280, 900))
		if axe != "" {
			b.axe(axe, name)
		}
	}
}

// pa11y checks pages with pa11y, as the visitor sees them.
func (v *visitor) pa11y(paths []string) {
	v.t.Helper()
	home, err := url.Parse(v.s.base())
	if err != nil {
		v.t.Fatal(err)
	}
	asked, err := json.Marshal(map[string]any{"base": v.s.base(), "cookie": v.client.Jar.Cookies(home)[0].String(), "paths": paths})
	if err != nil {
		v.t.Fatal(err)
	}
	cmd := exec.CommandContext(v.t.Context(), "node", filepath.Join("testdata", "pa11y.js"))
	cmd.Stdin = bytes.NewReader(asked)
	if out, err := cmd.CombinedOutput(); err != nil {
		v.t.Errorf("%v:\n%s", err, out)
	}
}

// pagesOfActs leads to the pages that only an action shows.
func pagesOfActs(s *service, b *browser) map[string]func() {
	return map[string]func(){
		"authorize": func() { b.open(s.program("sluice").path()) },
		"a new secret": func() {
			b.open("/webhooks/new?provider=github")
			b.fill("#field-eventKey", "webhook.made")
			b.follow("#webhook button.main")
			b.wants("shown only this once")
		},
		"an answer": func() {
			b.open("/commands/webhook.get")
			b.follow("main form button.main")
			b.do(chromedp.Click(chromedp.CSS(".answer input")))
		},
		"a draft on many calls": func() {
			b.open("/pipelines/lead.created/edit")
			b.fill("#source", "pipeline:\n  - event.listen: {eventKey: webhook.lead.created}\n  - set: {value: \"#{body.payload}\"}\n")
			b.follow("button[value=try]")
			b.wants("more calls", "would result in")
		},
		"a draft on one call": func() {
			b.open("/pipelines/lead.created/edit")
			b.follow("button[value=try-call]")
			b.wants("Tried on 1 past call")
		},
		"a test call": func() {
			b.open("/webhooks/webhook.connected")
			b.follow("form[action$='try#try'] button")
			b.wants("Accepted, and all went well")
		},
		"a deleted pipeline": func() {
			b.open("/pipelines/report.weekly/delete")
			b.followText("Delete the pipeline")
		},
		"dead letters replayed": func() {
			b.open("/deadletters")
			b.followText("Replay all")
			b.wants("replayed")
		},
		"calls replayed": func() {
			b.open("/calls?status=ok")
			b.do(chromedp.Click(chromedp.CSS("tbody input")))
			b.follow(".bulk button.main")
			b.wants("1 event replayed")
		},
	}
}

// axe runs axe-core on the page that is open, in both themes.
func (b *browser) axe(script, path string) {
	b.t.Helper()
	content, err := os.ReadFile(script)
	if err != nil {
		b.t.Fatal(err)
	}
	eval[bool](b, string(content)+"; true")
	// What the theme changes is colours alone.
	for theme, rules := range map[string]string{"light": "{}", "dark": `{runOnly: ["color-contrast"]}`} {
		b.theme(theme)
		found := ""
		b.eventually(func() string { // it fails itself if the page changes while it looks
			eval[bool](b, `(window.found = window.failure = undefined, axe.run(`+rules+`).then((r) => { window.found = r.violations.map((v) => v.id + " (" + v.impact + "): " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")).join("\n") }).catch((e) => { window.failure = String(e) }), true)`)
			b.until(`(window.found ?? window.failure) !== undefined`)
			found = eval[string](b, `window.found ?? ""`)
			return eval[string](b, `window.failure ?? ""`)
		})
		if found != "" {
			b.t.Errorf("%s, %s:\n%s", path, theme, found)
		}
	}
}
