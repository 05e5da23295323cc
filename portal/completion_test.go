package portal_test

import (
	"strconv"
	"testing"
)

// TestTheEditorCompletes: what can stand where the cursor is is offered: sections,
// commands, parameters and their values, event keys, users, secrets, and the values
// of the event beside the source.
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
