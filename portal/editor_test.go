package portal_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestASecondEditor: if someone else has saved in the meantime, the page says who, and
// keeps the draft.
func TestASecondEditor(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	v.post("/pipelines/new", "name", "p", "source", "pipeline: [log]").wants(t, 303)
	page := v.get("/pipelines/p/edit").wants(t, 200)
	tag := regexp.MustCompile(`name="tag" value="([^"]+)"`).FindStringSubmatch(page.body)
	if tag == nil {
		t.Fatal("the page has no tag")
	}
	v.post("/pipelines/p/edit", "source", "pipeline: [log, log]", "tag", tag[1]).wants(t, 303)
	v.post("/pipelines/p/edit", "source", "pipeline: [wait: {duration: 1s}]", "tag", tag[1]).
		wants(t, 412, "changed meanwhile", "admin stored version 2", "wait: {duration: 1s}", tag[1])
}

// TestTheEditor: mistakes and missing rights are marked while people type, words are
// completed, drafts survive, and leaving needs a confirmation.
func TestTheEditor(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.orders"})
	s.store("p", "pipeline:\n  - set: {value: 1}\n")
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/pipelines/p/edit")
	b.waits("[data-lint].good")
	typed := func(text string) {
		t.Helper()
		eval[bool](b, `(document.querySelector("#source").editor.set(`+strconv.Quote(text)+`), true)`)
	}
	if asks := eval[bool](b, `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`); asks {
		t.Error("leaving is asked about though nothing was typed")
	}
	typed("pipeline:\n  - event.listen: {eventKey: webhook.orders}\n  - http.request: {url: http://example.org}\n")
	b.waits("[data-lint].bad")
	b.until(inEditor + `.querySelector(".cm-lintRange-error")?.textContent === "http.request"`) // who runs it may not
	if asks := eval[bool](b, `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`); !asks {
		t.Error("leaving is not asked about")
	}
	b.open("/pipelines/p/edit")
	b.waits("[data-draft-bar]")
	b.do(chromedp.Click(chromedp.CSS("[data-draft-restore]")))
	b.until(`document.querySelector("#source").value.includes("http.request")`)
	b.follow("button[value=save]")
	b.wants("nothing was saved", "iam.run.as", "Save anyway")
	typed("pipeline:\n  - ")
	eval[bool](b, `(document.querySelector("#source").editor.end(), true)`)
	b.press("conv")
	b.until(inEditor + `.querySelector(".cm-tooltip-autocomplete [aria-selected]")?.textContent.startsWith("convert.")`)
	typed("pipeline:\n  - set: {value: 2}\n")
	b.waits("[data-lint].good")
	b.follow("button[value=save]")
	b.wants("Saved.", "2 versions")
	b.open("/pipelines/p/edit")
	if eval[bool](b, `document.querySelector("[data-draft-bar]").checkVisibility()`) {
		t.Error("the draft is still there after it was saved")
	}
}

// TestTwoBrowsers: if two people edit at once, the second sees what the first stored, and
// decides.
func TestTwoBrowsers(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.store("p", "pipeline:\n  - set: {value: one}\n")
	s.command("iam.user.put", map[string]any{"username": "dev", "password": "a long password", "roles": []string{"developer"}})
	first, second := s.browse(), s.browse()
	first.signIn("admin", adminPassword)
	second.signIn("dev", "a long password")
	first.open("/pipelines/p/edit")
	second.open("/pipelines/p/edit")
	first.fill("#source", "pipeline:\n  - set: {value: of the first}\n")
	first.follow("button[value=save]")
	first.wants("Saved.")
	second.fill("#source", "pipeline:\n  - set: {value: of the second}\n")
	second.follow("button[value=save]")
	second.wants("changed meanwhile", "has stored meanwhile", "- set: {value: of the first}", "+   - set: {value: of the second}")
	second.followText("Overwrite theirs")
	second.wants("Saved.", "of the second")
	first.open("/pipelines/p/versions/2")
	first.wants("What has changed since", "of the first", "of the second")
	first.followText("Roll back to this version")
	first.wants("Rolled back", "of the first", "4 versions")
}

// TestADraftIsTried: the page compares how past calls would end with how they did.
func TestADraftIsTried(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.a", "payloadType": "raw"})
	s.store("p", "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - set: {value: '#{body.payload.n}'}\n")
	var traces []string
	for _, n := range []string{"1", "2", "3"} {
		traces = append(traces, s.call(hook["uuid"].(string), "application/json", `{"n":`+n+`}`))
	}
	v := s.signedIn("admin", adminPassword)
	source := "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - assert: {\"true\": '#{body.payload.n != 2}', message: Two is too much.}\n  - set: {value: '#{body.payload.n > 2 ? 100 : body.payload.n}'}\n"
	v.post("/pipelines/p/edit", "source", source, "do", "try", "limit", "20").wants(t, 200, "Tried on 3 past calls", "1 would succeed as before", "1 would end in another way", "1 would fail", "Two is too much.", "Would be", "<details open>")
	for i, want := range []string{"would succeed as before", "would fail", "would result in 100"} {
		v.post("/pipelines/p/edit", "source", source, "do", "try-call", "call", traces[i]).
			wants(t, 200, "Tried on 1 past call<", want, `<option value="`+traces[i]+`" selected>`, "body.payload.n</code></dt> <dd><code>"+strconv.Itoa(i+1))
	}
	v.get("/pipelines/p").wants(t, 200).lacks(t, "too much") // nothing was stored

	fails := "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - fail: {message: Not today.}\n"
	s.store("p", fails)
	s.call(hook["uuid"].(string), "application/json", `{"n":4}`)
	v.post("/pipelines/p/edit", "source", fails, "do", "try", "limit", "20").wants(t, 200, "would fail again").lacks(t, "data-unsaved")
	v.post("/pipelines/p/edit", "source", fails+"# either\n", "do", "try", "limit", "20").
		wants(t, 200, "data-unsaved", `<li class="bad">1 failed before and would fail again</li>`, "3 would fail", "would fail again</span>").lacks(t, "would succeed as before")
}

// TestLentRights: saving someone else's pipeline, which lends it the user's rights, needs
// a confirmation.
func TestLentRights(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("iam.user.put", map[string]any{"username": "dev", "password": "a long password", "roles": []string{"developer"}})
	dev, admin := s.signedIn("dev", "a long password"), s.signedIn("admin", adminPassword)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})
	const source = "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - iam.run.as: {username: admin}\n  - server.info: {}\n"
	dev.post("/pipelines/new", "name", "p", "source", source, "do", "save").wants(t, 422, "dev, who stores this pipeline, may not let it", "Save anyway")
	dev.post("/pipelines/new", "name", "p", "source", source, "do", "force").wants(t, 303)
	admin.post("/pipelines/p/edit", "source", source, "do", "save").wants(t, 422, "is this what you want?", "with the rights of admin")
	admin.post("/pipelines/p/edit", "source", source, "do", "force").wants(t, 303)
}

// TestTheEditorCompletes: it offers sections, commands, parameters and their values, event
// keys, users, secrets, and the values of the event beside the source.
func TestTheEditorCompletes(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.command("webhook.put", map[string]any{"eventKey": "webhook.orders", "payloadType": "raw"})
	s.command("secret.put", map[string]any{"name": "crm.password", "value": "x"})
	s.store("p", "pipeline:\n  - event.listen: {eventKey: webhook.orders}\n")
	s.call(hook["uuid"].(string), "application/json", `{"total":42}`)
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/pipelines/p/edit")
	b.waits("[data-lint].good")
	for name, c := range map[string]struct{ source, typed, offered string }{
		"a section":                    {"", "pip", "pipeline"},
		"a command":                    {"pipeline:\n  - ", "conv", "convert.fromBase64"},
		"a parameter":                  {"pipeline:\n  - http.request:\n      ", "u", "url"},
		"a parameter in braces":        {"pipeline:\n  - http.request: {", "ti", "timeout"},
		"a value":                      {"pipeline:\n  - log:\n      level: ", "wa", "warn"},
		"a value in braces":            {"pipeline:\n  - http.request: {url: x, method: ", "PA", "PATCH"},
		"an event key":                 {"pipeline:\n  - event.listen:\n      eventKey: ", "web", "webhook.orders"},
		"a user":                       {"pipeline:\n  - iam.run.as: {username: ", "ad", "admin"},
		"a secret":                     {"pipeline:\n  - set: {value: \"#{secret('", "cr", "crm.password"},
		"a value of the event":         {"pipeline:\n  - set: {value: \"#{", "body.pay", "body.payload.total"},
		"a function within expression": {"pipeline:\n  - set: {value: \"#{", "convert.toJ", "convert.toJson"},
	} {
		eval[bool](b, `(document.querySelector("#source").editor.set(`+strconv.Quote(c.source)+`), document.querySelector("#source").editor.end(), true)`)
		b.press(c.typed)
		b.until(inEditor + `.querySelector(".cm-tooltip-autocomplete [aria-selected] .cm-completionLabel")?.textContent === ` + strconv.Quote(c.offered))
		b.press("\x1b")
		b.until(inEditor + `.querySelector(".cm-tooltip-autocomplete") === null`)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	eval[bool](b, `(document.querySelector("#source").editor.set("pipeline:\n  - log: {message: \"#{body}\"} # why\n"), true)`)
	colours := `new Set([...` + inEditor + `.querySelectorAll(".cm-line span")].map((e) => getComputedStyle(e).color)).size`
	if n := eval[int](b, colours); n < 4 { // a key, a text, an expression and a comment
		t.Errorf("a source has %d colours while it is typed", n)
	}
}

// TestUndo: one button undoes a save, a rollback or the deletion of a pipeline. Pages say
// what can't be undone, and offer an alternative.
func TestUndo(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})
	s.command("iam.user.put", map[string]any{"username": "eve", "password": "a long password"})
	s.store("p", "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - set: {value: first}\n")
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/pipelines/p/edit")
	b.fill("#source", "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - set: {value: second}\n")
	b.follow("button[value=save]")
	b.wants("Saved.", "The source before was version 1.", "second")
	b.followText("Undo")
	b.wants("Rolled back", "first")
	b.followText("Undo")
	b.wants("Rolled back", "second")
	b.followText("Delete this pipeline…")
	b.wants("Delete this pipeline?", "Pause it instead")
	b.followText("Delete the pipeline")
	b.wants("The pipeline is deleted.")
	b.followText("Undo")
	b.wants("Saved.", "second", "listening")
	b.open("/pipelines/p/delete")
	b.followText("Pause it instead")
	b.wants("Paused")
	b.open("/webhooks/webhook.a/delete")
	b.wants("It can’t be undone")
	b.followText("Disable it instead")
	b.wants("Saved.", "disabled")
	b.open("/users/eve/delete")
	b.followText("Disable the user instead")
	b.wants("Saved.")
	s.signedIn("admin", adminPassword).get("/users/eve").wants(t, 200, `<option value="true" selected>`)
}
