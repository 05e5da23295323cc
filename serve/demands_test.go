package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

// TestWhatWebhooksDemand: the parameters for it, how they are shown, and which of them do not go
// together.
func TestWhatWebhooksDemand(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.demanding")
	s.command("secret.put", map[string]any{"name": "hub-key", "value": "stored secret"}).wantStatus(t, 200)
	put := func(json string) scenario {
		return scenario{target: "webhook.put", json: `{"uuid":"UUID",` + json + `}`}
	}
	good := func(name, json string, fields map[string]any) scenario {
		c := put(json)
		c.name, c.status, c.fields = name, 200, fields
		return c
	}
	bad := func(name, json, parameter, detail string) scenario {
		c := put(json)
		c.name, c.status, c.code, c.parameter, c.detail = name, 400, "parameter-invalid", parameter, detail
		return c
	}
	scheme := map[string]any{"header": "X-Sig"}
	runScenarios(t, s, []string{"UUID", h.UUID}, []scenario{
		good("nothing at first", `"description":"for people"`, map[string]any{"description": "for people", "signingSecrets": nil, "disabled": nil, "multipart": nil, "provider": nil}),
		bad("a provider without a secret", `"provider":"github"`, "signingSecret", "needs the signing secret"),
		bad("an unknown provider", `"provider":"githup","signingSecret":"x"`, "provider", "github"),
		bad("a secret for nothing", `"signingSecret":"x"`, "signingSecret", "provider or a signature"),
		bad("a signature without a secret", `"signature":{"header":"X-Sig"}`, "signingSecret", "secret"),
		bad("a signature that is none", `"signature":{"headr":"X-Sig"},"signingSecret":"x"`, "signature", "headr"),
		bad("a signature with a wrong field", `"signature":{"header":"X-Sig","algorithm":"md5"},"signingSecret":"x"`, "signature.algorithm", "algorithm"),
		bad("provider and signature", `"provider":"github","signature":{"header":"X-Sig"},"signingSecret":"x"`, "signature", "in place of"),
		bad("three secrets", `"provider":"github","signingSecret":"a,b,c"`, "signingSecret", "two"),
		bad("an empty secret of two", `"provider":"github","signingSecret":"a,"`, "signingSecret", "empty"),
		bad("a key that is none", `"provider":"discord","signingSecret":"x"`, "signingSecret", "ed25519"),
		bad("a verify token for nobody", `"verifyToken":"x"`, "verifyToken", "meta"),
		bad("dedupe nowhere", `"dedupe":"somewhere"`, "dedupe", "header:"),
		bad("too short a window", `"dedupeWindow":"999ms"`, "dedupeWindow", "1s to 168h"),
		bad("too long a window", `"dedupeWindow":"169h"`, "dedupeWindow", "1s to 168h"),
		bad("a schema that is no JSON", `"schema":"{"`, "schema", "JSON"),
		bad("a schema that is no schema", `"schema":{"properties":{"a":{"type":"strin"}}}`, "schema", "/properties/a/type"),
		bad("a schema that leads elsewhere", `"schema":{"$ref":"https://example.com/x.json"}`, "schema", "within the schema"),
		bad("a schema that leads beside itself", `"schema":{"$ref":"other.json"}`, "schema", "within the schema"),
		bad("a schema that is its own", `"schema":{"$ref":"#"}`, "schema", "at its top: it leads back"),
		bad("a schema without end", `"schema":{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/b"}]},"b":{"if":true,"then":{"$ref":"#/$defs/a"}}}}`, "schema", "it leads back"),
		bad("a schema that leads to a file", `"schema":{"$ref":"file:///etc/passwd"}`, "schema", "within the schema"),
		bad("a schema that leads to a standard", `"schema":{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "schema", "within the schema"),
		bad("a schema with a bad pattern", `"schema":{"pattern":"("}`, "schema", "pattern"),
		bad("a large schema", `"schema":{"description":"`+strings.Repeat("x", 64<<10)+`"}`, "schema", "64 KiB"),
		bad("a deep schema", `"schema":`+strings.Repeat(`{"not":`, 600)+`{}`+strings.Repeat(`}`, 600), "schema", ""),
		bad("a long description", `"description":"`+strings.Repeat("x", 1001)+`"`, "description", "1000"),
		bad("an unknown way of multipart", `"multipart":"none"`, "multipart", "files, all"),
		{name: "an unknown secret", target: "webhook.put", json: `{"uuid":"UUID","provider":"github","signingSecret":"secret:hub-kex"}`, status: 400, code: "secret-unknown", parameter: "signingSecret", detail: "hub-key"},

		good("a provider", `"provider":"github","signingSecret":"a,b"`, map[string]any{"provider": "github", "signingSecrets": 2, "dedupe": "header:X-GitHub-Delivery", "dedupeWindow": "24h", "description": "for people"}),
		bad("a signature beside it", `"signature":{"header":"X-Sig"}`, "signature", "in place of"),
		good("a stored secret", `"signingSecret":"secret:hub-key"`, map[string]any{"signingSecrets": 1}),
		good("no ids", `"dedupe":"off","dedupeWindow":"90m"`, map[string]any{"dedupe": "off", "dedupeWindow": nil}),
		good("ids again", `"dedupe":""`, map[string]any{"dedupe": "header:X-GitHub-Delivery", "dedupeWindow": "1h30m"}),
		good("an own signature", `"provider":"","signature":{"header":"X-Sig"}`, map[string]any{"provider": nil, "signature": scheme, "signingSecrets": 1, "dedupe": nil}),
		bad("a provider beside it", `"provider":"github"`, "provider", "signature"),
		good("neither", `"signature":""`, map[string]any{"signature": nil, "signingSecrets": nil}),
		good("meta", `"provider":"meta","signingSecret":"s","verifyToken":"v"`, map[string]any{"verifyToken": "v"}),
		good("meta no more", `"provider":""`, map[string]any{"verifyToken": nil, "signingSecrets": nil}),
		good("a schema as an object", `"schema":{"type":"object"}`, map[string]any{"schema": map[string]any{"type": "object"}}),
		good("a schema as text", `"schema":"{\"type\":\"array\"}"`, map[string]any{"schema": map[string]any{"type": "array"}}),
		good("a schema that forbids all", `"schema":false`, map[string]any{"schema": false}),
		good("no schema", `"schema":null`, map[string]any{"schema": nil}),
		good("disabled", `"disabled":true,"multipart":"all"`, map[string]any{"disabled": true, "multipart": "all"}),
	})
	if text := string(s.command("webhook.get", nil).body); strings.Contains(text, "stored secret") || strings.Contains(text, "sealed") {
		t.Errorf("webhook.get shows %s", text)
	}
	var providers []map[string]any
	s.command("provider.get", nil).wantStatus(t, 200).into(t, &providers)
	if len(providers) < 31 || providers[0]["checks"] == "" || len(providers[0]["setup"].([]any)) != 3 {
		t.Errorf("provider.get: %v", providers)
	}
	s.command("provider.get", map[string]any{"provider": "strype"}).wantProblem(t, 400, "parameter-invalid")
}

// TestEditsOfWhatWasRead: ifUpdated refuses an edit of what was changed meanwhile,
// and every change has a time of its own.
func TestEditsOfWhatWasRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.edited")
	edit := func(updated time.Time, more ...any) answer {
		params := map[string]any{"uuid": h.UUID, "ifUpdated": updated.Format(time.RFC3339Nano)}
		for i := 0; i < len(more); i += 2 {
			params[more[i].(string)] = more[i+1]
		}
		return s.command("webhook.put", params)
	}
	var second hook
	edit(h.Updated, "maxPayloadLength", 7).wantStatus(t, 200).into(t, &second)
	if !second.Updated.After(h.Updated) {
		t.Errorf("updated %s, then %s", h.Updated, second.Updated)
	}
	if problem := edit(h.Updated, "maxPayloadLength", 8).wantProblem(t, 412, "changed-meanwhile"); problem["parameter"] != "ifUpdated" {
		t.Errorf("%v", problem)
	}
	edit(h.Updated, "dedupe", "header:X-Id").wantProblem(t, 412, "changed-meanwhile")
	edit(second.Updated, "dedupe", "header:X-Id").wantStatus(t, 200)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.new", "ifUpdated": "2030-01-31T12:00:00Z"}).wantProblem(t, 400, "parameter-invalid")
	s.command("webhook.put", map[string]any{"eventKey": "webhook.new", "ifMatch": "*"}).wantProblem(t, 400, "parameter-invalid")

	// The same with the etag.
	var third, fourth sluice.WebhookView
	s.command("webhook.get", map[string]any{"eventKey": "webhook.edited"}).into(t, &third)
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "ifMatch": third.ETag, "description": "x"}).wantStatus(t, 200).into(t, &fourth)
	if fourth.ETag == third.ETag {
		t.Errorf("an edit leaves the etag %s", third.ETag)
	}
	for _, edit := range []map[string]any{{"description": "y"}, {"dedupe": "header:X-Other"}} {
		edit["uuid"], edit["ifMatch"] = h.UUID, third.ETag
		if problem := s.command("webhook.put", edit).wantProblem(t, 412, "changed-meanwhile"); problem["parameter"] != "ifMatch" {
			t.Errorf("%v", problem)
		}
	}

	// Of edits at the same time none is lost.
	var all sync.WaitGroup
	params := []map[string]any{{"dedupeWindow": "1h"}, {"schema": map[string]any{"type": "object"}}, {"provider": "azure-event-grid"}, {"description": "x"}, {"multipart": "all"}}
	for _, p := range params {
		p["uuid"] = h.UUID
		all.Go(func() { s.command("webhook.put", p).wantStatus(t, 200) })
	}
	all.Wait()
	got := s.command("webhook.get", map[string]any{"uuid": h.UUID}).object(t)
	if got["dedupeWindow"] != "1h" || got["schema"] == nil || got["provider"] != "azure-event-grid" || got["description"] != "x" || got["multipart"] != "all" || got["dedupe"] != "header:X-Id" {
		t.Errorf("lost: %v", got)
	}
}

// TestStoredSecretsAreFollowed: a signing secret that is stored elsewhere counts as
// it is at the time of a call.
func TestStoredSecretsAreFollowed(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("secret.put", map[string]any{"name": "hub-key", "value": "one"}).wantStatus(t, 200)
	h := s.create("webhook.stored", "provider", "github", "signingSecret", "secret:hub-key", "dedupe", "off")
	call := func(secret string) answer {
		return s.call(h, "application/json", "{}", header("X-Hub-Signature-256", "sha256="+hexMAC(secret, "{}")))
	}
	call("one").wantStatus(t, 200)
	call("two").wantStatus(t, 401)
	s.command("secret.put", map[string]any{"name": "hub-key", "value": "with,comma,s"}).wantStatus(t, 200)
	call("with,comma,s").wantStatus(t, 200)
	call("with").wantStatus(t, 401)
	if got := s.command("webhook.get", map[string]any{"uuid": h.UUID}).object(t)["signingSecret"]; got != "secret:hub-key" {
		t.Errorf("the name of the secret is shown as %v", got)
	}
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "signingSecret": "secret:hub-key,three"}).wantStatus(t, 200)
	if got := s.command("webhook.get", map[string]any{"uuid": h.UUID}).object(t)["signingSecret"]; got != nil {
		t.Errorf("a secret is shown: %v", got)
	}
	s.command("secret.put", map[string]any{"name": "hub-key", "value": "two"}).wantStatus(t, 200)
	call("one").wantStatus(t, 401)
	call("two").wantStatus(t, 200)
	call("three").wantStatus(t, 200)
}

// TestASecretThatIsGone: calls that are signed with the one that is left are taken.
// Where none is left the sender is to try again, and the operator learns why.
func TestASecretThatIsGone(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"new", "old"} {
		s.command("secret.put", map[string]any{"name": "hub-" + name, "value": name}).wantStatus(t, 200)
	}
	h := s.create("webhook.rotated", "provider", "github", "signingSecret", "secret:hub-new,secret:hub-old", "dedupe", "off")
	call := func(secret string) answer {
		return s.call(h, "application/json", "{}", header("X-Hub-Signature-256", "sha256="+hexMAC(secret, "{}")))
	}
	remove := func(name string) {
		t.Helper()
		s.command("secret.delete", map[string]any{"name": name, "force": true}).wantStatus(t, 200)
	}
	wantTold := func(reason string) {
		t.Helper()
		shown := s.command("webhook.get", map[string]any{"uuid": h.UUID}).wantStatus(t, 200).object(t)
		if !strings.Contains(fmt.Sprint(shown["warnings"]), reason) || !strings.Contains(s.log.String(), `There is no secret \"`+reason) {
			t.Errorf("the operator is not told of %s: %v, log:\n%s", reason, shown["warnings"], s.log.String())
		}
	}
	call("new").wantStatus(t, 200)
	call("old").wantStatus(t, 200)
	remove("hub-old")
	call("new").wantStatus(t, 200)
	call("old").wantProblem(t, 401, "signature-invalid")
	wantTold("hub-old")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "signingSecret": "secret:hub-new,secret:hub-old"}).wantProblem(t, 400, "secret-unknown")

	remove("hub-new")
	problem := call("new").wantProblem(t, 503, "webhook-unavailable")
	if strings.Contains(fmt.Sprint(problem), "hub-") {
		t.Errorf("the caller learns %v", problem)
	}
	s.call(h, "application/json", "{}").wantStatus(t, 503) // it must not be taken without a signature
	wantTold("hub-new")

	s.command("secret.put", map[string]any{"name": "hub-old", "value": "again"}).wantStatus(t, 200)
	call("again").wantStatus(t, 200)
}

// TestPayloadsMeetTheirSchema: in whatever way they are sent and carried.
func TestPayloadsMeetTheirSchema(t *testing.T) {
	t.Parallel()
	s := start(t)
	schema := `{"type":"object","required":["id"],"properties":{"id":{"type":"integer","maximum":10},"tags":{"items":{"type":"string"}},"a/b":{"const":1}}}`
	for _, payloadType := range []string{"base64", "raw", "ignore"} {
		h := s.create("webhook.schema."+payloadType, "schema", schema, "payloadType", payloadType)
		for name, test := range map[string]struct {
			body     string
			pointers []string // nil: it is taken
		}{
			"good":             {`{"id":1,"tags":["a"]}`, nil},
			"with a token":     {`{"id":2,"token":"` + h.UUID + `"}`, nil},
			"lacks a member":   {`{}`, []string{""}},
			"wrong within":     {`{"id":"1","tags":["a",2]}`, []string{"/id", "/tags/1"}},
			"with a slash":     {`{"id":1,"a/b":2}`, []string{"/a~1b"}},
			"too large":        {`{"id":11}`, []string{"/id"}},
			"no JSON":          {`id=1`, []string{""}},
			"nothing":          {``, []string{""}},
			"two values":       {`{"id":1}{"id":1}`, []string{""}},
			"a large exponent": {`{"id":1e999999999}`, []string{"/id"}},
			"far too deep":     {strings.Repeat("[", 100_000), []string{""}},
		} {
			got := s.call(h, "application/json", test.body)
			if test.pointers == nil {
				got.wantStatus(t, 200)
				continue
			}
			found := map[string]bool{}
			for _, e := range got.wantProblem(t, 422, "payload-invalid")["errors"].([]any) {
				item := e.(map[string]any)
				found[item["pointer"].(string)] = item["message"] != ""
			}
			want := map[string]bool{}
			for _, p := range test.pointers {
				want[p] = true
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("%s, %s: %s", payloadType, name, diff)
			}
		}
	}
	h := s.create("webhook.schema.many", "schema", `{"items":{"type":"string"}}`)
	if errors := s.call(h, "application/json", "["+strings.Repeat("1,", 99)+"1]").wantProblem(t, 422, "payload-invalid")["errors"].([]any); len(errors) != 20 {
		t.Errorf("%d errors are shown", len(errors))
	}
	// One that leads back to itself within the payload is fine, whatever it is called.
	h = s.create("webhook.schema.tree", "schema", `{"$id":"https://example.com/tree.json","type":"object","required":["name"],"properties":{"children":{"items":{"$ref":"tree.json"}}}}`)
	s.call(h, "application/json", `{"name":"a","children":[{"name":"b","children":[]}]}`).wantStatus(t, 200)
	s.call(h, "application/json", `{"name":"a","children":[{"children":[]}]}`).wantProblem(t, 422, "payload-invalid")
	// A schema that tries everything again at each level costs a bounded time:
	// otherwise the client loses its patience.
	h = s.create("webhook.schema.heavy", "schema", `{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"},{"type":"null"}]}},"required":["b"]}`)
	s.call(h, "application/json", strings.Repeat(`{"a":`, 100)+"1"+strings.Repeat(`}`, 100)).wantProblem(t, 422, "payload-invalid")
}

// TestDeliveryIDs: what can be one, and what a repeated one is answered with.
func TestDeliveryIDs(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.store("answering", listening("webhook.ids", "set: {value: {got: '#{body.deliveryId}'}}"))
	h := s.create("webhook.ids", "dedupe", "header:X-Id", "payloadType", "raw")
	call := func(body string, ids ...string) answer {
		alterations := make([]func(*http.Request), len(ids))
		for i, id := range ids {
			alterations[i] = func(r *http.Request) { r.Header["X-Id"] = append(r.Header["X-Id"], id) }
		}
		return s.call(h, "application/json", body, alterations...)
	}
	for name, ids := range map[string][]string{
		"empty":      {""},
		"10 KB long": {strings.Repeat("x", 10_000)},
		"a control":  {"a\tb"},
		"two":        {"a", "b"},
		"no UTF-8":   {"\xff"},
	} {
		if got := call("{}", ids...); got.status != 400 || got.object(t)["code"] != "delivery-id-invalid" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if kept := s.quarantine(map[string]any{"code": "delivery-id-invalid"}); len(kept) != 5 || len(kept[0].Diagnosis) == 0 {
		t.Errorf("kept: %+v", kept)
	}
	if a := s.admit(map[string]any{"code": "delivery-id-invalid", "force": true}); a.Admitted != 5 {
		t.Errorf("forced in: %+v", a)
	}
	first := call(`{"a":1}`, "id-1").wantStatus(t, 200)
	again := call(`{"a":1}`, "id-1").wantStatus(t, 200)
	if first.header.Get("svc-duplicate") != "" || again.header.Get("svc-duplicate") != "true" {
		t.Errorf("svc-duplicate is %q, then %q", first.header.Get("svc-duplicate"), again.header.Get("svc-duplicate"))
	}
	for _, name := range []string{"correlationId", "traceId", "created"} {
		if first.object(t)[name] != again.object(t)[name] {
			t.Errorf("%s is %v, then %v", name, first.object(t)[name], again.object(t)[name])
		}
	}
	eventually(t, "the result of the first call", func() bool {
		got := call(`{"a":1}`, "id-1").object(t)
		return cmp.Equal(got["value"], map[string]any{"got": "id-1"})
	})
	if got := s.send("POST", receivePath+"?pollingRedirectEnabled=true", strings.NewReader(`{"a":1}`), header("Token", h.UUID), header("X-Id", "id-1")); got.status != 302 || got.header.Get("svc-result-correlationid") != first.header.Get("svc-result-correlationid") {
		t.Errorf("redirected: %s %v", got, got.header)
	}
	call(`{"a":1}`).wantStatus(t, 200)
	if got := call(`{"a":1}`); got.header.Get("svc-duplicate") != "" {
		t.Error("a call without an id is a duplicate")
	}
	other := s.create("webhook.other.ids", "dedupe", "header:X-Id")
	if got := s.call(other, "application/json", `{"a":1}`, header("X-Id", "id-1")).wantStatus(t, 200); got.header.Get("svc-duplicate") != "" {
		t.Error("the ids of one webhook count for another")
	}
	short := s.create("webhook.short.ids", "dedupe", "query:id", "dedupeWindow", "1s")
	target := receivePath + "?id=7&token=" + short.UUID
	s.send("POST", target, nil).wantStatus(t, 200)
	eventually(t, "the end of the window", func() bool { return s.send("POST", target, nil).header.Get("svc-duplicate") == "" })

	// At the same moment, and over a restart.
	var all sync.WaitGroup
	firsts := make(chan string, 100)
	for i := range 100 {
		all.Go(func() {
			if got := call(`{"b":1}`, fmt.Sprint("many-", i%10)).wantStatus(t, 200); got.header.Get("svc-duplicate") == "" {
				firsts <- got.header.Get("svc-trace-id")
			}
		})
	}
	all.Wait()
	if len(firsts) != 10 {
		t.Errorf("%d were the first", len(firsts))
	}
	s.stop()
	s.resume()
	if got := call(`{"a":1}`, "id-1").wantStatus(t, 200); got.header.Get("svc-duplicate") != "true" || got.object(t)["correlationId"] != first.object(t)["correlationId"] {
		t.Errorf("after a restart: %s", got)
	}
	count := 0
	for _, e := range s.events() {
		if id, _ := e.object(t)["deliveryId"].(string); strings.HasPrefix(id, "many-") {
			count++
		}
	}
	if count != 10 {
		t.Errorf("%d events", count)
	}
}

// TestSecretHeadersAreMasked: they count for verification, and are in no event and
// no trace.
func TestSecretHeadersAreMasked(t *testing.T) {
	t.Parallel()
	s := start(t, "redact-headers=X-Private")
	h := s.create("webhook.gitlab", "provider", "gitlab", "signingSecret", "canary-secret")
	bearer := s.create("webhook.bearer", "provider", "cloudevents", "signingSecret", "canary-secret")
	own := s.create("webhook.own", "signature", map[string]any{"header": "X-Private"}, "signingSecret", "canary-secret")
	plain := s.create("webhook.plain")
	mac := hexMAC("canary-secret", "{}")
	for _, call := range []struct {
		h      hook
		header func(*http.Request)
	}{{h, header("X-Gitlab-Token", "canary-secret")}, {bearer, header("Authorization", "Bearer canary-secret")}, {own, header("X-Private", mac)}, {plain, header("X-Gitlab-Token", "canary-secret")}} {
		id := s.call(call.h, "application/json", "{}", call.header, header("X-Other", "shown")).wantStatus(t, 200).object(t)["traceId"]
		trace := string(s.command("trace.get", map[string]any{"traceId": id}).body)
		event := fmt.Sprint(s.newest(call.h))
		for _, text := range []string{trace, event} {
			if strings.Contains(text, "canary-secret") || strings.Contains(text, mac) || !strings.Contains(text, "shown") {
				t.Errorf("%s shows %s", call.h.EventKey, text)
			}
		}
	}
	s.stop()
	if text := s.log.String(); strings.Contains(text, "canary-secret") {
		t.Error("the log has the secret")
	}
}

// TestCloudEventsAreRecognised: in both modes, with their attributes in the event;
// and one that is repeated is found out by source and id.
func TestCloudEventsAreRecognised(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.ce", "provider", "cloudevents", "payloadType", "raw")
	want := map[string]any{"id": "A1", "source": "/a", "type": "t", "subject": "s", "time": "2018-04-05T17:31:00Z"}
	binary := []func(*http.Request){header("ce-specversion", "1.0"), header("ce-id", "A1"), header("ce-source", "/a"), header("ce-type", "t"), header("ce-subject", "s"), header("ce-time", "2018-04-05T17:31:00Z")}
	s.call(h, "application/json", `{"x":1}`, binary...).wantStatus(t, 200)
	if diff := cmp.Diff(any(want), s.newest(h)["ce"]); diff != "" {
		t.Error(diff)
	}
	structured := `{"specversion":"1.0","id":"A1","source":"/a","type":"t","subject":"s","time":"2018-04-05T17:31:00Z","data":{"x":1}}`
	if got := s.call(h, "application/cloudevents+json", structured).wantStatus(t, 200); got.header.Get("svc-duplicate") != "differs" {
		t.Error("the same event in the other mode, which has other bytes, is another one")
	}
	other := s.create("webhook.ce.plain")
	s.call(other, "application/cloudevents+json", structured).wantStatus(t, 200)
	if diff := cmp.Diff(any(want), s.newest(other)["ce"]); diff != "" {
		t.Error(diff)
	}
	s.call(other, "application/json", structured).wantStatus(t, 200)
	if ce := s.newest(other)["ce"]; ce != nil {
		t.Errorf("plain JSON is taken for %v", ce)
	}
}

// TestAllOfAMultipartBody: every field and every file, whatever its part is called.
func TestAllOfAMultipartBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.mail", "multipart", "all", "payloadType", "raw")
	part := func(disposition, content string) string {
		return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
	}
	body := part(`name="subject"`, "hi") + part(`name="to"`, "a") + part(`name="to"`, "b") + part(`name="token"`, h.UUID) +
		part(`name="attachment-1"; filename="../a.txt"`, "text") + part(`name="file"; filename="b.bin"`, "\xff") + part(`name="raw"`, "\xfe") + "--b--\r\n"
	s.send("POST", receivePath, strings.NewReader(body), header("Content-Type", "multipart/form-data; boundary=b")).wantStatus(t, 200)
	want := map[string]any{
		"fields": map[string]any{"subject": "hi", "to": []any{"a", "b"}},
		"files": []any{
			map[string]any{"name": "attachment-1", "filename": "a.txt", "contentType": "", "length": 4.0, "origin": "text", "encoding": "text"},
			map[string]any{"name": "file", "filename": "b.bin", "contentType": "", "length": 1.0, "origin": "/w==", "encoding": "base64"},
			map[string]any{"name": "raw", "filename": "", "contentType": "", "length": 1.0, "origin": "/g==", "encoding": "base64"},
		},
	}
	if diff := cmp.Diff(any(want), s.newest(h)["payload"]); diff != "" {
		t.Error(diff)
	}
	// A field token that is the sender's own stays, where the webhook's is elsewhere.
	s.call(h, "multipart/form-data; boundary=b", part(`name="token"`, "theirs")+"--b--\r\n").wantStatus(t, 200)
	if diff := cmp.Diff(any(map[string]any{"files": []any{}, "fields": map[string]any{"token": "theirs"}}), s.newest(h)["payload"]); diff != "" {
		t.Error(diff)
	}
}
