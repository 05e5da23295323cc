package receive

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/sender"
	"sluice/webhook/form"
	"sluice/webhook/trust"

	"sluice"
)

// FuzzEvent: whatever comes in, the event is JSON from which a consumer gets the
// body back: to the byte where it says base64, the same text where it says text.
func FuzzEvent(f *testing.F) {
	f.Add(uint8(0), "text/plain", "a=1&token=x", []byte("hi"))
	f.Add(uint8(1), "application/json", "", []byte(`{"a":12345678901234567890.10}`))
	f.Add(uint8(1), "application/json", "uuid=x&b&b=%ff", []byte(`{"a":`))
	f.Add(uint8(1), "application/json", "", []byte("\"\xff\""))
	f.Add(uint8(1), "application/json", "", []byte(strings.Repeat("[", 2000)+strings.Repeat("]", 2000)))
	f.Add(uint8(1), "application/x+json;", "", []byte(" \t\r\nnull\n"))
	f.Add(uint8(1), "text/plain", "", []byte("\x00\x1f\u2028\"\\ü\U0001F600"))
	f.Add(uint8(1), "", "", []byte("\xff\xfe"))
	f.Add(uint8(2), "application/json", "", []byte(`{}`))
	f.Add(uint8(0), "", "", []byte(nil))
	f.Fuzz(func(t *testing.T, kind uint8, contentType, rawQuery string, body []byte) {
		query, err := url.ParseQuery(rawQuery)
		if err != nil {
			return
		}
		payloadType := []sluice.PayloadType{sluice.Base64, sluice.Raw, sluice.Ignore}[kind%3]
		r := httptest.NewRequest("POST", "/", nil)
		r.Header["Content-Type"] = []string{contentType}
		parsed, err := form.ParseQuery(nil, rawQuery)
		if err != nil {
			t.Fatalf("%q is malformed: %v", rawQuery, err)
		}
		c := &newPlace().checked
		c.request, c.query, c.body, c.trust = r, parsed, body, &trust.Trust{Verifier: new(sender.Verifier)}
		c.hook = sluice.Webhook{UUID: "secret", EventKey: "webhook.fuzz", PayloadType: payloadType}
		receiver := New(Needs{Namespace: "default", Log: slog.New(slog.DiscardHandler)})
		data := receiver.event(c).AppendJSON(nil)

		var got struct {
			Payload         json.RawMessage     `json:"payload"`
			PayloadEncoding string              `json:"payloadEncoding"`
			ContentType     string              `json:"contentType"`
			Query           map[string][]string `json:"query"`
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%v: %q", err, data)
		}
		wantPayload(t, payloadType, got.PayloadEncoding, got.Payload, body)
		query.Del("token")
		query.Del("uuid")
		if utf8.ValidString(rawQuery) && allUTF8(query) && !reflect.DeepEqual(got.Query, map[string][]string(query)) {
			t.Fatalf("the query %q became %q", query, got.Query)
		}
		if utf8.ValidString(contentType) && got.ContentType != contentType {
			t.Fatalf("contentType %q became %q", contentType, got.ContentType)
		}
	})
}

func allUTF8(query url.Values) bool {
	for name, values := range query {
		if !utf8.ValidString(name) || !utf8.ValidString(strings.Join(values, "")) {
			return false
		}
	}
	return true
}

// wantPayload checks that a payload is the body in the form it says.
func wantPayload(t *testing.T, payloadType sluice.PayloadType, encoding string, payload json.RawMessage, body []byte) {
	t.Helper()
	allowed := map[sluice.PayloadType]string{sluice.Base64: "base64", sluice.Raw: "json text base64", sluice.Ignore: "none"}
	if !strings.Contains(allowed[payloadType], encoding) {
		t.Fatalf("payload type %s was encoded as %s", payloadType, encoding)
	}
	switch encoding {
	case "none":
		if payload != nil {
			t.Fatalf("there is a payload: %s", payload)
		}
	case "json":
		if !bytes.Equal(payload, bytes.TrimSpace(body)) {
			t.Fatalf("the JSON %q became %q", body, payload)
		}
	case "text":
		var text string
		if err := json.Unmarshal(payload, &text); err != nil || text != string(body) {
			t.Fatalf("the text %q became %q (%v)", body, text, err)
		}
	case "base64":
		var carried struct {
			Origin []byte `json:"origin"` // base64
		}
		if err := json.Unmarshal(payload, &carried); err != nil || !bytes.Equal(carried.Origin, body) {
			t.Fatalf("the bytes %q became %q (%v)", body, carried.Origin, err)
		}
		if payloadType == sluice.Raw && utf8.Valid(body) && len(body) < form.MaxText/6 {
			t.Fatalf("the text %q was carried as base64", body)
		}
	}
}
