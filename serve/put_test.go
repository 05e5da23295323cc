package serve_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// TestCreateWebhook: what a new webhook looks like.
func TestCreateWebhook(t *testing.T) {
	t.Parallel()
	s := start(t)
	before := time.Now().Add(-time.Second)
	got := s.command("webhook.put", map[string]any{"eventKey": "webhook.lead.created"}).wantStatus(t, http.StatusOK)
	var h hook
	got.into(t, &h)
	if !uuidForm.MatchString(h.UUID) {
		t.Errorf("uuid is %q", h.UUID)
	}
	if h.Created.Before(before) || !h.Updated.Equal(h.Created) || h.Created.Location() != time.UTC {
		t.Errorf("created and updated are %s and %s", h.Created, h.Updated)
	}
	object := got.object(t)
	created := object["created"]
	delete(object, "created")
	delete(object, "updated")
	want := map[string]any{
		"uuid":             h.UUID,
		"eventKey":         "webhook.lead.created",
		"payloadType":      "base64",
		"maxPayloadLength": float64(512000),
		"webhookUrl":       s.server.URL() + "/api/v3/command/webhook.receive?token=" + h.UUID,
		"hookUrl":          s.server.URL() + "/hook/" + h.UUID,
		"methods":          []any{"GET", "POST"},
		"answer":           "result",
		"tokens":           []any{map[string]any{"token": h.UUID, "last6": sluice.Last6(h.UUID), "open": true, "created": created}},
	}
	want["etag"] = sluice.EntityTag(1, h.Updated)
	if diff := cmp.Diff(want, object); diff != "" {
		t.Errorf("the webhook is another one (-want +got):\n%s", diff)
	}
}

// TestWebhookURL: it starts with the configured URL, never with what a request
// says of the host.
func TestWebhookURL(t *testing.T) {
	t.Parallel()
	for setting, base := range map[string]string{
		"public-url=https://hooks.example.org":        "https://hooks.example.org",
		"public-url=https://hooks.example.org/":       "https://hooks.example.org",
		"public-url=https://example.org:8443/sluice/": "https://example.org:8443/sluice",
	} {
		s := start(t, setting)
		got := s.send("POST", "/api/v3/command/webhook.put?eventKey=webhook.url", nil, asAdmin,
			func(r *http.Request) { r.Host = "evil.example.org" }, header("X-Forwarded-Host", "evil.example.org"), header("Forwarded", "host=evil.example.org"))
		var h hook
		got.into(t, &h)
		if want := base + "/api/v3/command/webhook.receive?token=" + h.UUID; h.WebhookURL != want {
			t.Errorf("with %s, webhookUrl is %s, want %s", setting, h.WebhookURL, want)
		}
	}
}

// TestPutWebhook: what webhook.put takes, one call after the other.
func TestPutWebhook(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := s.create("webhook.a"), s.create("webhook.b")
	gone := s.create("webhook.gone")
	s.command("webhook.delete", map[string]any{"uuid": gone.UUID}).wantStatus(t, 200)
	long := strings.Repeat("k", 200)
	runScenarios(t, s, append(tokens(a), "{b}", b.UUID, "{gone}", gone.UUID), []scenario{
		{name: "create with all fields", target: "webhook.put", json: `{"eventKey":"webhook.all","payloadType":"ignore","maxPayloadLength":9}`, status: 200, fields: map[string]any{"eventKey": "webhook.all", "payloadType": "ignore", "maxPayloadLength": 9, "warnings": nil}},
		{name: "create with the other name of payloadType", target: "webhook.put", form: "eventKey=webhook.handling&payloadHandling=raw", status: 200, fields: map[string]any{"payloadType": "raw", "payloadHandling": nil}},
		{name: "both names, same value", target: "webhook.put", form: "eventKey=webhook.both&payloadHandling=raw&payloadType=raw", status: 200, fields: map[string]any{"payloadType": "raw"}},
		{name: "both names, different values", target: "webhook.put", form: "eventKey=webhook.never&payloadHandling=raw&payloadType=base64", status: 400, code: "parameter-conflict", parameter: "payloadType"},
		{name: "an unknown payload type", target: "webhook.put", form: "eventKey=webhook.never&payloadType=Raw", status: 400, code: "parameter-invalid", parameter: "payloadType", detail: "base64, raw, ignore"},
		{name: "the smallest limit", target: "webhook.put?eventKey=webhook.min&maxPayloadLength=1", status: 200, fields: map[string]any{"maxPayloadLength": 1}},
		{name: "the largest limit", target: "webhook.put?eventKey=webhook.max&maxPayloadLength=4194304", status: 200, fields: map[string]any{"maxPayloadLength": 4194304}},
		{name: "a limit of nothing", target: "webhook.put?eventKey=webhook.never&maxPayloadLength=0", status: 400, code: "parameter-invalid", parameter: "maxPayloadLength", detail: "4194304"},
		{name: "a negative limit", target: "webhook.put?eventKey=webhook.never&maxPayloadLength=-1", status: 400, code: "parameter-invalid", parameter: "maxPayloadLength"},
		{name: "a limit beyond the largest", target: "webhook.put?eventKey=webhook.never&maxPayloadLength=4194305", status: 400, code: "parameter-invalid", parameter: "maxPayloadLength", detail: "4194304"},
		{name: "no event key", target: "webhook.put", status: 400, code: "parameter-missing", parameter: "eventKey"},
		{name: "an empty event key", target: "webhook.put?eventKey=", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "an empty group", target: "webhook.put?eventKey=webhook..x", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "a dot in front", target: "webhook.put?eventKey=.webhook", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "a dot behind", target: "webhook.put?eventKey=webhook.", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "a pattern", target: "webhook.put?eventKey=webhook.*", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "a space", target: "webhook.put?eventKey=webhook.a+b", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "a line break behind", target: "webhook.put?eventKey=webhook.x%0A", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "letters beyond ASCII", target: "webhook.put?eventKey=webhook.%C3%BC", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "200 characters", target: "webhook.put?eventKey=" + long, status: 200},
		{name: "201 characters", target: "webhook.put?eventKey=" + long + "k", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "every character there may be", target: "webhook.put?eventKey=webhook.a-Z_09", status: 200, fields: map[string]any{"eventKey": "webhook.a-Z_09"}},
		{name: "a taken event key", target: "webhook.put?eventKey=webhook.a", status: 409, code: "event-key-taken", parameter: "eventKey"},
		{name: "an event key of a deleted webhook", target: "webhook.put?eventKey=webhook.gone", status: 200},

		{name: "a check of a new one", target: "webhook.put?eventKey=webhook.checked&dryRun=true&payloadType=raw", status: 200, fields: map[string]any{"eventKey": "webhook.checked", "payloadType": "raw", "uuid": "", "webhookUrl": ""}},
		{name: "what was checked is not there", method: "GET", target: "webhook.get?eventKey=webhook.checked", status: 404, code: "webhook-not-found", parameter: "eventKey"},
		{name: "a check that fails", target: "webhook.put?eventKey=webhook.b&dryRun=true", status: 409, code: "event-key-taken", parameter: "eventKey"},
		{name: "a check of an edit", target: "webhook.put?uuid={token}&maxPayloadLength=7&dryRun=true", status: 200, fields: map[string]any{"uuid": "{token}", "maxPayloadLength": 7}},
		{name: "a checked edit has changed nothing", method: "GET", target: "webhook.get?uuid={token}", status: 200, fields: map[string]any{"eventKey": "webhook.a", "maxPayloadLength": 512000}},

		{name: "edit one field, others stay", target: "webhook.put?uuid={token}&payloadType=raw", status: 200, fields: map[string]any{"uuid": "{token}", "eventKey": "webhook.a", "payloadType": "raw", "maxPayloadLength": 512000}},
		{name: "edit another field, others stay", target: "webhook.put?uuid={token}&maxPayloadLength=5", status: 200, fields: map[string]any{"payloadType": "raw", "maxPayloadLength": 5}},
		{name: "edit the event key", target: "webhook.put?uuid={token}&eventKey=webhook.renamed", status: 200, fields: map[string]any{"uuid": "{token}", "eventKey": "webhook.renamed", "payloadType": "raw", "maxPayloadLength": 5}},
		{name: "the event key before is free now", target: "webhook.put?eventKey=webhook.a", status: 200},
		{name: "edit with the event key it has", target: "webhook.put?uuid={token}&eventKey=webhook.renamed", status: 200},
		{name: "edit with a token in upper case", target: "webhook.put?uuid={TOKEN}&maxPayloadLength=6", status: 200, fields: map[string]any{"uuid": "{token}", "maxPayloadLength": 6}},
		{name: "edit to a taken event key", target: "webhook.put?uuid={token}&eventKey=webhook.b", status: 409, code: "event-key-taken", parameter: "eventKey"},
		{name: "edit to no event key", target: "webhook.put?uuid={token}&eventKey=a..b", status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "a refused edit has changed nothing", method: "GET", target: "webhook.get?uuid={token}", status: 200, fields: map[string]any{"eventKey": "webhook.renamed", "payloadType": "raw", "maxPayloadLength": 6}},
		{name: "edit what was never there", target: "webhook.put?uuid=" + unknownToken + "&eventKey=webhook.mine", status: 404, code: "webhook-not-found"},
		{name: "edit what was deleted", target: "webhook.put?uuid={gone}&eventKey=webhook.mine", status: 404, code: "webhook-not-found"},
		{name: "edit what is no uuid", target: "webhook.put?uuid=a.%3E&eventKey=webhook.mine", status: 404, code: "webhook-not-found"},
		{name: "callers assign no uuids", method: "GET", target: "webhook.get?uuid=" + unknownToken, status: 404, code: "webhook-not-found"},

		{name: "delete", target: "webhook.delete?uuid={b}", status: 200, fields: map[string]any{"uuid": "{b}", "deleted": true}},
		{name: "delete again", target: "webhook.delete?uuid={b}", status: 404, code: "webhook-not-found"},
		{name: "delete what was never there", target: "webhook.delete", json: `{"uuid":"` + unknownToken + `"}`, status: 404, code: "webhook-not-found"},
		{name: "delete what is no uuid", target: "webhook.delete?uuid=%3E", status: 404, code: "webhook-not-found"},
		{name: "get what was deleted", method: "GET", target: "webhook.get?uuid={b}", status: 404, code: "webhook-not-found"},
	})
}

// TestWarnings: an event key outside the convention is taken, with a warning.
func TestWarnings(t *testing.T) {
	t.Parallel()
	s := start(t)
	for eventKey, mention := range map[string][]string{
		"webhook.fine":    nil,
		"webhook.Capital": {"lower case"},
		"lead.created":    {"webhook."},
		"webhook":         {"webhook."},
		"webhooks.lead":   {"webhook."},
		"Lead":            {"lower case", "webhook."},
	} {
		h := s.create(eventKey)
		if len(h.Warnings) != len(mention) {
			t.Errorf("%s has the warnings %q, want %d", eventKey, h.Warnings, len(mention))
			continue
		}
		for i, word := range mention {
			if !strings.Contains(h.Warnings[i], word) {
				t.Errorf("%s has the warning %q, want it to mention %q", eventKey, h.Warnings[i], word)
			}
		}
	}
}

// TestEditMovesTime: an edit leaves created as it is and moves updated on.
func TestEditMovesTime(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.time")
	var edited hook
	eventually(t, "the clock to move on", func() bool {
		s.command("webhook.put", map[string]any{"uuid": h.UUID, "payloadType": "raw"}).into(t, &edited)
		return edited.Updated.After(h.Updated)
	})
	if !edited.Created.Equal(h.Created) {
		t.Errorf("created was %s and is %s", h.Created, edited.Created)
	}
}

// TestEditIsInForceAtOnce: the next call is received as the edit says.
func TestEditIsInForceAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.edited")
	s.call(h, "text/plain", "hi").wantStatus(t, 200)
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "maxPayloadLength": 1}).wantStatus(t, 200)
	s.call(h, "text/plain", "hi").wantStatus(t, 413)
	s.command("webhook.delete", map[string]any{"uuid": h.UUID}).wantStatus(t, 200)
	s.call(h, "text/plain", "h").wantStatus(t, 401)
}
