package receive

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice/webhook/form"
	"sluice/webhook/trust"

	"sluice"
)

func TestRedactedBodies(t *testing.T) {
	const jsonType, formType, uploadType = "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"
	part := func(disposition, content string) string {
		return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
	}
	for name, test := range map[string]struct{ contentType, paths, body, want string }{
		"a member":            {jsonType, "card.number", ` {"card" : {"number": 41, "cvc":[1,"}"]} , "a":"\"card"}`, ` {"card" : {"number": "***", "cvc":[1,"}"]} , "a":"\"card"}`},
		"a whole object":      {jsonType, "card", `{"a":1,"card":{"number":[41]},"b":null}`, `{"a":1,"card":"***","b":null}`},
		"items":               {jsonType, "items[*].email", `{"items":[{"email":"x","n":1},{"n":2},7,{"email":{"a":[]}}]}`, `{"items":[{"email":"***","n":1},{"n":2},7,{"email":"***"}]}`},
		"an outer array":      {jsonType, "[*].email", `[{"email":"x"},[]]`, `[{"email":"***"},[]]`},
		"all items":           {jsonType, "tags[*]", `{"tags":["a",["b"],{}]}`, `{"tags":["***","***","***"]}`},
		"twice, and escaped":  {jsonType, "email", `{"email":"x","em\u0061il":"y","EMAIL":"z"}`, `{"email":"***","em\u0061il":"***","EMAIL":"z"}`},
		"into a text":         {jsonType, "card.number", `{"card":"tok"}`, `{"card":"tok"}`},
		"several":             {jsonType, "a b.c b.d", `{"a":true,"b":{"d":-1.5e3,"c":""}}`, `{"a":"***","b":{"d":"***","c":"***"}}`},
		"names that begin so": {jsonType, "card", `{"cards":1,"car":2}`, `{"cards":1,"car":2}`},
		"no members":          {jsonType, "a", `"secret"`, `***`},
		"no JSON":             {jsonType, "a", `{"a":`, `***`},
		"text":                {"text/plain", "a", `{"a":1}`, `***`},
		"nothing":             {"text/plain", "a", ``, ``},
		"a form":              {formType, "email card.number items[*].x", "email=a%40b&e%6Dail=c&n=1&card[number]=41&card[cvc]=2&items[0][x]=3&items%5B%5D%5Bx%5D=4", "email=***&e%6Dail=***&n=1&card[number]=***&card[cvc]=2&items[0][x]=***&items%5B%5D%5Bx%5D=***"},
		"an odd form":         {formType, "a.b", "&&a[b=1&a=2&ab=3&=&a[b][c]=4&", "&&a[b=***&a=***&ab=3&=&a[b][c]=***&"},
		"JSON in a form":      {formType, "payload.user", `payload={"user":1}&user=2`, `payload=***&user=2`},
		"an upload":           {uploadType, "fields.email files[*].origin files[*].filename", part(`name="email"`, "x") + part(`name="n"`, "1") + part(`name="file"; filename="y"`, "z") + "--b--\r\n", part(`name="email"`, "***") + part(`name="n"`, "1") + part(`name="file"; filename="***"`, "***") + "--b--\r\n"},
		"half an upload":      {uploadType, "fields.email", part(`name="email"`, "x"), "***"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(redactBody(test.contentType, []byte(test.body), strings.Fields(test.paths))); got != test.want {
				t.Errorf("it is\n%s, want\n%s", got, test.want)
			}
		})
	}
}

// FuzzRedactedJSON: what is left is JSON, and at the path nothing is left.
func FuzzRedactedJSON(f *testing.F) {
	f.Add(`{"a":{"b":1}}`)
	f.Add(`{"a":[{"b":"x\\"}],"a":{"\u0062":{}}} `)
	f.Fuzz(func(t *testing.T, body string) {
		if !isJSONBody("application/json", []byte(body)) {
			return
		}
		got := redactBody("application/json", []byte(body), []string{"a.b", "a[*].b"})
		if string(got) == redacted {
			return
		}
		var outer map[string]json.RawMessage
		if !json.Valid(got) {
			t.Fatalf("%s became %s", body, got)
		}
		if json.Unmarshal(got, &outer) != nil {
			return
		}
		var inner map[string]any
		if json.Unmarshal(outer["a"], &inner) == nil && inner["b"] != nil && inner["b"] != redacted {
			t.Errorf("%s became %s", body, got)
		}
	})
}

// TestRedactedCall: neither the event nor the quarantine has what a webhook does not store,
// wherever it came from, and what was sent is what is checked.
func TestRedactedCall(t *testing.T) {
	const secret = "4111-1111"
	hook := sluice.Webhook{
		UUID: known, EventKey: "webhook.known", PayloadType: sluice.Raw, MaxPayloadLength: 1000,
		Settings: sluice.Settings[time.Duration]{
			Redact: []string{"payload.card", "headers.x-customer", "headers.ce-subject", "headers.host", "query.email"},
		},
		Trust: &sluice.Trust{Dedupe: "header:X-Customer", Schema: json.RawMessage(`{"properties":{"card":{"const":"` + secret + `"}}}`)},
	}
	call := func() *found {
		r := httptest.NewRequest("POST", "/?email="+secret, nil)
		r.Host = secret
		for _, name := range []string{"X-Customer", "Ce-Subject", "Ce-Id", "Ce-Source", "Ce-Type", "Ce-Specversion"} {
			r.Header.Set(name, "1.0")
		}
		r.Header.Set("X-Customer", secret)
		r.Header.Set("Ce-Subject", secret)
		r.Header.Set("Content-Type", "application/json")
		in := &newPlace().found
		in.request, in.body, in.hook = r, []byte(`{"card":"`+secret+`","n":1}`), hook
		in.query, _ = form.ParseQuery(nil, r.URL.RawQuery)
		return in
	}
	rc, _ := receiver(finder{}, new(sink))
	rc.Trust.Trusts = trust.New(trust.Options{})
	in := call()
	c, _, err := rc.check(in, false)
	if err != nil {
		t.Fatalf("what was sent is refused: %v", err)
	}
	id := c.id
	e := rc.event(c)
	text := string(e.AppendJSON(nil))
	if strings.Contains(text, secret) || !strings.Contains(text, `"payload":{"card":"***","n":1}`) || !strings.Contains(text, `"query":{"email":["***"]}`) {
		t.Errorf("the event is %s", text)
	}
	var want sluice.Event
	want.SetFingerprint(hook.IDKey, known, id, in.body, 0)
	if e.Fingerprint == nil || e.Fingerprint.Key != want.Fingerprint.Key {
		t.Error("a repeated call is not found out by the id that was sent")
	}
	var kept sluice.QuarantinedCall
	rc.Quarantine = keeping(func(c *sluice.QuarantinedCall) { kept = *c })
	refusal := sluice.CodePayloadInvalid.Errorf("Wrong.")
	_ = rc.refuse(call().arrived, refusal) // it returns the refusal
	stored, err := json.Marshal(kept.Request)
	body, _ := url.QueryUnescape(string(kept.Request.Body))
	if err != nil || strings.Contains(string(stored)+body, secret) || !kept.Request.Redacted || body != `{"card":"***","n":1}` {
		t.Errorf("the quarantine has %s with the body %s", stored, body)
	}
}

type keeping func(c *sluice.QuarantinedCall)

func (k keeping) Keep(_ string, _ int, call func() *sluice.QuarantinedCall) bool {
	k(call())
	return true
}

// TestHiddenFindings: what a schema finds within a redacted member is told without its names.
func TestHiddenFindings(t *testing.T) {
	f := &found{hook: sluice.Webhook{Settings: sluice.Settings[time.Duration]{
		Redact: []string{"payload.customers", "payload.items[*].card", "payload.a/b"},
	}}}
	for pointer, want := range map[string]string{
		"":                              "",
		"/customers":                    "/customers",
		"/customers/alice@example.com/": "/customers",
		"/customer":                     "",
		"/items/0/card/4242":            "/items/0/card",
		"/items/0/name":                 "",
		"/a~1b/secret":                  "/a~1b",
	} {
		if got, hidden := f.isHidden(pointer); hidden != (want != "") || hidden && got != want {
			t.Errorf("%q is %q, %v; want %q", pointer, got, hidden, want)
		}
	}
}
