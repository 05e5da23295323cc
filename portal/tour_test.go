package portal_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTour: a newcomer signs in, makes a webhook, calls it as the page says, and
// sees the call arrive without doing anything.
func TestTour(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.wants("Welcome")
	b.followText("Create your first webhook")
	b.follow("form[action='/start'] button")
	b.wants("webhook.hello is ready", "Waiting for the call")
	line := b.text("#line")
	_, rest, _ := strings.Cut(line, "token: ")
	token, _, _ := strings.Cut(rest, "'")
	b.waits(".waiting.on") // the page listens
	trace := s.call(token, "application/json", `{"name":"Ada"}`)
	b.waits(".waiting.arrived")
	if done := eval[int](b, `document.querySelectorAll(".steps > li.done").length`); done != 3 {
		t.Errorf("%d steps are done", done)
	}
	b.followText("Look at it")
	b.wants(trace, `"name": "Ada"`, "No pipeline listens to it")
}

// TestCallsAreLive: a call shows up in the list the moment it arrives, what
// became of it follows, and it can be replayed.
func TestCallsAreLive(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.slow", "payloadType": "raw"})
	s.store("slow", "pipeline:\n  - event.listen: {eventKey: webhook.slow}\n  - wait: {duration: 1s}\n  - set: {value: \"#{body.payload.n}\"}\n")
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/calls?eventKey=webhook.slow")
	b.waits(".live.on")
	trace := s.call(hook["uuid"].(string), "application/json", `{"n":42}`)
	row := `tr[data-trace="` + trace + `"]`
	b.waits("[data-newer] button") // above the list, which stays where it is
	if text := b.text("[data-newer] button"); text != "1 new call" {
		t.Errorf("above the list stands %q", text)
	}
	b.do(chromedp.Click(chromedp.CSS("[data-newer] button")))
	b.waits(row)
	b.waits(row + " .badge.good") // by itself, a second later
	b.follow(row + " a")
	b.wants("How it went", "on stable storage after", "answered after", "slow", "42")
	if bars := eval[int](b, `document.querySelectorAll("svg.timeline rect.step").length`); bars != 2 {
		t.Errorf("the picture has %d steps", bars)
	}
	b.followText("Replay")
	b.wants("Replayed: this is the new call.", "Replay of", trace)
}

// TestNarrowedListsAreLive: also where only the server knows what belongs to them.
func TestNarrowedListsAreLive(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.orders", "payloadType": "raw"})["uuid"].(string)
	s.store("orders", "pipeline:\n  - event.listen: {eventKey: webhook.orders}\n  - assert: {\"true\": \"#{body.payload.n > 0}\", message: Too small.}\n")
	before := s.call(hook, "application/json", `{"n":-1}`)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/calls?status=error")
	b.waits(".live.on")
	s.call(hook, "application/json", `{"n":1}`)
	after := s.call(hook, "application/json", `{"n":-2}`)
	b.until(`document.querySelector("[data-newer]:not([hidden]) button")?.textContent === "1 new call"`)
	b.press("n")
	b.until(`[...document.querySelectorAll("[data-rows] tr")].map((row) => row.dataset.trace).join() === "` + after + "," + before + `"`)
	b.until(`document.querySelector("[data-newer]").hidden`)
	v := s.signedIn("admin", adminPassword)
	v.get("/calls?status=error").wants(t, 200, `data-calls="narrowed"`)
	for _, query := range []string{"to=2026-01-01T00:00", "search=x&payloads=yes"} {
		if page := v.get("/calls?" + query); strings.Contains(page.body, "data-live=") {
			t.Errorf("/calls?%s is live", query)
		}
	}
}

// TestWebhookLife: a webhook is made with a mistake first, called from its page,
// changed and deleted.
func TestWebhookLife(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/webhooks/new")
	b.fill("#field-eventKey", "not a key")
	b.follow("main form button.main")
	b.wants("must be 1 to 200 letters")
	if focus := eval[string](b, `document.querySelector("[aria-invalid]").id`); focus != "field-eventKey" {
		t.Errorf("the field that is wrong is %q", focus)
	}
	b.fill("#field-eventKey", "webhook.browser")
	b.follow("main form button.main")
	b.wants("Created.", "••••••••-")
	if hidden := eval[bool](b, `document.querySelector("#url").textContent.includes("••••") && !document.querySelector("button.copy").hidden`); !hidden {
		t.Error("the token is not hidden, or there is nothing to copy it with")
	}
	b.fill("#payload", `{"from": "the browser"}`)
	b.follow("form[action$='try#try'] button")
	b.wants("Accepted and kept, but no pipeline listens", `"status": "ok"`)
	b.followText("Edit")
	b.fill("#field-maxPayloadLength", "1000")
	b.follow("main form button.main")
	b.wants("Saved.")
	b.do(chromedp.Click(chromedp.CSS("[aria-labelledby=about] summary")))
	b.wants("1,000 bytes", "svc.event.webhook.browser")
	b.followText("Delete this webhook…")
	b.wants("Delete this webhook?")
	b.followText("Delete the webhook")
	b.wants("Deleted.", "No webhooks yet")
}

// inEditor is where the editor of pipelines lives in a page.
const inEditor = `document.querySelector(".code").shadowRoot`

// TestPipelineMistake: a mistake is shown at its line and stores nothing; mended,
// the pipeline is stored, tested and run.
func TestPipelineMistake(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/pipelines/new")
	b.fill("#name", "sum")
	b.fill("#source", "pipeline:\n  - set:\n      vlaue: \"#{body.a + body.b}\"\n")
	b.follow("button[value=save]")
	b.wants("nothing was saved", "Line 3", "did you mean value?")
	b.until(inEditor + `.querySelectorAll(".cm-lintRange-error").length === 1`)
	if marked := eval[string](b, inEditor+`.querySelector(".cm-lintRange-error").textContent`); marked != "vlaue" {
		t.Errorf("what is marked is %q", marked)
	}
	if twice := eval[bool](b, `document.querySelector(".problems a").checkVisibility()`); twice {
		t.Error("mistakes are listed above the editor and below it")
	}
	b.do(chromedp.Click(chromedp.CSS("[data-findings] button")))
	if line := eval[string](b, inEditor+`.querySelector(".cm-activeLine").textContent`); !strings.Contains(line, "vlaue") {
		t.Errorf("the mistake leads to the line %q", line)
	}
	b.fill("#source", "pipeline:\n  - set:\n      value: \"#{body.a + body.b}\"\ntests:\n  - name: adds\n    body: {a: 1, b: 2}\n    expect: {body: 3}\n")
	b.follow("button[value=save]")
	b.wants("Saved.")
	b.followText("Run its tests")
	b.wants("1 passed, 0 failed", "adds")
	b.fill("#body", `{"a": 40, "b": 2}`)
	b.follow("form[action$='run#run'] button")
	b.wants("It answered:", "42")
}

// TestViewerInABrowser: a user who may only look sees no other buttons, and
// can leave.
func TestViewerInABrowser(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})
	s.command("iam.user.put", map[string]any{"username": "vera", "password": "a long password", "roles": []string{"viewer"}})
	b := s.browse()
	b.signIn("vera", "a long password")
	for _, path := range []string{"/webhooks", "/webhooks/webhook.a", "/pipelines", "/users", "/roles/developer", "/secrets"} {
		b.open(path)
		if buttons := eval[string](b, `[...document.querySelectorAll("main button, main .button.main, main .danger")].map(e => e.textContent).filter(t => t !== "Search").join()`); buttons != "" {
			t.Errorf("%s has the buttons %s", path, buttons)
		}
	}
	b.follow(".whoami button")
	b.wants("Sign in")
	b.open("/webhooks")
	b.wants("Sign in")
}

// TestHostileContentInABrowser: scripts in payloads, file names and search terms
// are text, also where a page adds them live.
func TestHostileContentInABrowser(t *testing.T) {
	t.Parallel()
	s := start(t)
	const script = `<script>window.hurt=1</script><img src=x onerror="window.hurt=1">`
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.hostile", "payloadType": "raw"})
	token := hook["uuid"].(string)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/calls")
	b.waits(".live.on")
	text := s.call(token, "text/html", script)
	file := s.call(token, "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"<img src=x onerror=window.hurt=1>.txt\"\r\n\r\n"+script+"\r\n--x--\r\n")
	b.waits("[data-newer] button")
	b.until(`document.querySelector("[data-newer] button").textContent === "2 new calls"`)
	b.do(chromedp.Click(chromedp.CSS("[data-newer] button")))
	b.waits(`tr[data-trace="` + file + `"]`)
	unhurt := func(where string) {
		t.Helper()
		if eval[bool](b, `window.hurt === 1 || document.querySelector("main img, main script") !== null`) {
			t.Errorf("%s: a script of a caller's has run, or could", where)
		}
	}
	unhurt("the live list")
	for path, shown := range map[string]string{
		"/calls/" + text: script, "/calls/" + file: "<img src=x onerror=window.hurt=1>.txt",
		"/webhooks?search=%3Cimg%20src=x%20onerror=%22window.hurt=1%22%3E": `<img src=x onerror="window.hurt=1">`,
	} {
		b.open(path)
		b.wants(shown)
		unhurt(path)
	}
	if eval[bool](b, `(() => { const s = document.createElement("script"); s.textContent = "window.hurt = 1"; document.body.append(s); return window.hurt === 1 })()`) {
		t.Error("a script that stands in the page runs, in spite of the policy")
	}
}

// TestKeyboardAndLandmarks: the first Tab offers a way past the navigation, and
// every field has a label.
func TestKeyboardAndLandmarks(t *testing.T) {
	t.Parallel()
	s := start(t)
	furnish(t, s)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/webhooks")
	b.do(chromedp.KeyEvent("\t"))
	if focus := eval[string](b, `document.activeElement.textContent`); focus != "Skip to the content" {
		t.Errorf("the first Tab leads to %q", focus)
	}
	for _, path := range []string{"/", "/calls", "/webhooks/new", "/webhooks/webhook.lead.created", "/pipelines/lead.created/edit", "/pipelines/lead.created", "/users/vera", "/commands/iam.user.put", "/audit", "/me", "/start"} {
		b.open(path)
		if bare := eval[string](b, `[...document.querySelectorAll("input:not([type=hidden]), select, textarea")].filter(e => !e.labels.length && !e.ariaLabel).map(e => e.outerHTML).join()`); bare != "" {
			t.Errorf("%s has fields without a label: %s", path, bare)
		}
		if wrong := eval[string](b, `[document.querySelectorAll("main").length, document.querySelectorAll("h1").length, document.querySelectorAll("nav[aria-label=Main]").length].join()`); wrong != "1,1,1" {
			t.Errorf("%s has so many main, h1 and nav: %s", path, wrong)
		}
		if twice := eval[string](b, `[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i).join()`); twice != "" {
			t.Errorf("%s has ids twice: %s", path, twice)
		}
	}
}

// TestEditorByKeyboard: Tab indents, and the editor can be left with the
// keyboard.
func TestEditorByKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/pipelines/new")
	b.wants("press Esc, then Tab")
	b.waits("[data-findings] button")
	eval[bool](b, `(`+inEditor+`.querySelector(".cm-content").focus(), document.querySelector("[data-findings] button").before = true)`)
	b.do(chromedp.KeyEvent("\t"))
	if text := eval[string](b, inEditor+`.querySelector(".cm-line").textContent.slice(0, 6)`); text != "  pipe" {
		t.Errorf("after Tab there is %q", text)
	}
	b.until(`document.querySelector("[data-findings] button")?.before !== true`)  // what was typed is checked
	eval[bool](b, `((now) => { Date.now = () => now; return true })(Date.now())`) // two seconds after Escape, Tab indents again
	b.do(chromedp.KeyEvent("\x1b"))
	for _, want := range []string{"Line 2: No webhook has the event key webhook.hello, and no pipeline sends it.", "Save"} {
		b.do(chromedp.KeyEvent("\t"))
		if focus := eval[string](b, `document.activeElement.textContent`); !strings.HasPrefix(focus, want) {
			t.Errorf("Escape and Tab lead to %q, want %q", focus, want)
		}
	}
}

// TestCopy: a button copies what stands beside it, with the token, also where
// the browser has no clipboard for the page.
func TestCopy(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.copied"})
	b := s.browse()
	b.signIn("admin", adminPassword)
	for _, clipboard := range []string{"true", "false"} {
		b.open("/webhooks/webhook.copied")
		eval[bool](b, `window.copied = "", document.addEventListener("copy", () => { window.copied = document.activeElement.value }),
			Object.defineProperty(navigator, "clipboard", { value: `+clipboard+` ? { writeText: async (text) => { window.copied = text } } : undefined }), true`)
		b.do(chromedp.Click(chromedp.CSS("button.copy")))
		b.waits("button.copied")
		if got := eval[string](b, `window.copied`); got != hook["webhookUrl"] {
			t.Errorf("with a clipboard %s: copied %q, want %q", clipboard, got, hook["webhookUrl"])
		}
	}
}

// TestPhone: no page is wider than a phone.
func TestPhone(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.do(chromedp.EmulateViewport(360, 740))
	for _, path := range []string{"/", "/calls", "/calls/" + live[0], "/webhooks", "/webhooks/webhook.lead.created", "/pipelines/lead.created", "/pipelines/lead.created/edit", "/commands", "/reference", "/users/vera", "/audit", "/deadletters/1"} {
		b.open(path)
		if width := eval[int](b, `document.documentElement.scrollWidth`); width > 360 {
			t.Errorf("%s is %d wide", path, width)
		}
	}
}
