package serve_test

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// origin is the payload of bytes that travel as base64.
func origin(content string) string {
	return `{"origin":"` + base64.StdEncoding.EncodeToString([]byte(content)) + `"}`
}

// TestPayloads: what becomes of each kind of body with each payload type. With
// ignore there is never a payload; base64 is exact to the byte; raw is the JSON
// or the text where the body is such.
func TestPayloads(t *testing.T) {
	t.Parallel()
	s := start(t)
	big := `{"n":12345678901234567890.1234567890e+99,"i":9007199254740993,"z":-0.0}`
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	controls := strings.Repeat("\x01", 1<<20)
	tests := []struct {
		name, contentType, body string
		raw                     string // the payload with payload type raw, as JSON
		rawEncoding             string
	}{
		{"a JSON object", "application/json", `{"a":[1,true,null],"b":"ü\u00fc\ud83d\ude00"}`, `{"a":[1,true,null],"b":"ü\u00fc\ud83d\ude00"}`, "json"},
		{"JSON with numbers that fit no type", "application/json; charset=utf-8", big, big, "json"},
		{"JSON with the same name twice", "application/json", `{"a":1,"a":2}`, `{"a":1,"a":2}`, "json"},
		{"a JSON string", "application/json", `"hi"`, `"hi"`, "json"},
		{"a JSON null", "application/json", `null`, `null`, "json"},
		{"JSON of another type", "application/cloudevents+json", `[1]`, `[1]`, "json"},
		{"JSON that breaks off", "application/json", `{"a":`, `"{\"a\":"`, "text"},
		{"JSON with something behind it", "application/json", `{} {}`, `"{} {}"`, "text"},
		{"JSON that is no UTF-8", "application/json", "\"\xff\"", origin("\"\xff\""), "base64"},
		{"JSON nested deeper than anyone parses", "application/json", deep, `"` + deep + `"`, "text"},
		{"JSON in a text", "text/plain", `{"a":1}`, `"{\"a\":1}"`, "text"},
		{"a form", form, "a=1&b=%20", `"a=1&b=%20"`, "text"},
		{"text", "text/plain", "hällo \"x\" \\ \t\r\n\u2028</script>", `"hällo \"x\" \\ \t\r\n` + "\u2028" + `</script>"`, "text"},
		{"text with a NUL", "text/plain", "a\x00b", `"a\u0000b"`, "text"},
		{"no type", "", "hi", `"hi"`, "text"},
		{"a malformed type", ";;;", "hi", `"hi"`, "text"},
		{"binary", "application/octet-stream", "\x00\xff\xfe", origin("\x00\xff\xfe"), "base64"},
		{"text in another encoding", "text/plain; charset=latin1", "h\xe4llo", origin("h\xe4llo"), "base64"},
		{"text that escaping would make too long", "text/plain", controls, origin(controls), "base64"},
		{"nothing", "", "", `""`, "text"},
		{"nothing, said to be JSON", "application/json", "", `""`, "text"},
		{
			"files", upload, filePart("hi", "Content-Type: text/plain") + filePart("\xff") + end,
			`{"files":[{"filename":"a","contentType":"text/plain","length":2,"origin":"hi","encoding":"text"},` +
				`{"filename":"a","contentType":"","length":1,"origin":"/w==","encoding":"base64"}]}`, "files",
		},
	}
	type expectation struct{ name, traceID, payload, encoding, payloadType string }
	var expected []expectation
	for _, payloadType := range []string{"base64", "raw", "ignore"} {
		hook := s.create("webhook.payload."+payloadType, "payloadType", payloadType, "maxPayloadLength", 4<<20)
		for _, test := range tests {
			got := s.call(hook, test.contentType, test.body).wantStatus(t, http.StatusOK)
			e := expectation{payloadType + ": " + test.name, traceOf(got), test.raw, test.rawEncoding, payloadType}
			switch {
			case payloadType == "ignore":
				e.payload, e.encoding = "", "none"
			case payloadType == "base64" && test.name == "files":
				e.payload = strings.Replace(test.raw, `"origin":"hi","encoding":"text"`, `"origin":"aGk=","encoding":"base64"`, 1)
			case payloadType == "base64":
				e.payload, e.encoding = origin(test.body), "base64"
			}
			expected = append(expected, e)
		}
	}
	events := s.events()
	for _, e := range expected {
		t.Run(e.name, func(t *testing.T) {
			got := events[e.traceID]
			if string(got.Payload) != e.payload {
				t.Errorf("payload is %.200s, want %.200s", got.Payload, e.payload)
			}
			if got.PayloadEncoding != e.encoding || got.PayloadType != e.payloadType {
				t.Errorf("payloadEncoding and payloadType are %s and %s, want %s and %s", got.PayloadEncoding, got.PayloadType, e.encoding, e.payloadType)
			}
		})
	}
}

// TestEventMessage is one whole event, as a consumer gets it.
func TestEventMessage(t *testing.T) {
	t.Parallel()
	s := start(t, "namespace=acme", "redact-headers=X-Api-Key,X-Signature")
	hook := s.create("webhook.lead.Created")
	w := s.dial(t)
	w.say(measured(request(
		"POST "+receivePath+"?b=2&a=1&b=%C3%BC&empty=&pollingRedirectEnabled=false&token="+strings.ToUpper(hook.UUID)+"&uuid="+hook.UUID+" HTTP/1.1",
		"Host: hooks.example.org",
		"Content-Type: Text/Plain; charset=utf-8",
		"Content-Length: {length}",
		"X-Custom: one",
		"x-custom: two",
		"Token: "+hook.UUID,
		"Uuid: "+hook.UUID,
		"Authorization: Bearer secret",
		"Proxy-Authorization: Basic secret",
		"Cookie: session=secret",
		"X-API-Key: secret",
		"x-signature: secret",
		"X-Forwarded-For: 203.0.113.7",
	) + "hi"))
	before := time.Now()
	got := w.hear(http.MethodPost).wantStatus(t, http.StatusOK)

	event := s.events()[traceOf(got)]
	if want := "svc.event." + hook.EventKey; event.subject != want {
		t.Errorf("the message key is %s, want %s", event.subject, want)
	}
	if age := before.Sub(event.ReceivedAt).Abs(); age > patience || event.ReceivedAt.Location() != time.UTC {
		t.Errorf("receivedAt is %s, want the time of the call in UTC", event.ReceivedAt)
	}
	message := event.object(t)
	delete(message, "receivedAt")
	want := map[string]any{
		"eventKey":        "webhook.lead.Created",
		"namespace":       "acme",
		"traceId":         traceOf(got),
		"payload":         map[string]any{"origin": "aGk="},
		"payloadType":     "base64",
		"payloadEncoding": "base64",
		"contentType":     "Text/Plain; charset=utf-8",
		"method":          "POST",
		"query": map[string]any{
			"a":                      []any{"1"},
			"b":                      []any{"2", "ü"},
			"empty":                  []any{""},
			"pollingRedirectEnabled": []any{"false"},
		},
		"headers": map[string]any{
			"host":            "hooks.example.org",
			"content-type":    "Text/Plain; charset=utf-8",
			"content-length":  "2",
			"x-custom":        "one, two",
			"x-forwarded-for": "203.0.113.7",
		},
		"remoteAddr": "127.0.0.1",
	}
	if diff := cmp.Diff(want, message); diff != "" {
		t.Errorf("the event is another one (-want +got):\n%s", diff)
	}
}

// TestEventOfABareCall: fields that have nothing to say are there nevertheless.
func TestEventOfABareCall(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.bare", "payloadType", "ignore")
	w := s.dial(t)
	w.say(request("GET " + receivePath + "?token=" + hook.UUID + " HTTP/1.0"))
	got := w.hear(http.MethodGet).wantStatus(t, http.StatusOK)
	message := s.events()[traceOf(got)].object(t)
	delete(message, "receivedAt")
	want := map[string]any{
		"eventKey": "webhook.bare", "namespace": "default", "traceId": traceOf(got),
		"payloadType": "ignore", "payloadEncoding": "none", "contentType": "", "method": "GET",
		"query": map[string]any{}, "headers": map[string]any{}, "remoteAddr": "127.0.0.1",
	}
	if headers, _ := message["headers"].(map[string]any); headers["host"] == "" {
		delete(headers, "host") // HTTP/1.0 needs none
	}
	if diff := cmp.Diff(want, message); diff != "" {
		t.Errorf("the event is another one (-want +got):\n%s", diff)
	}
}

// TestReceivedAtIsRFC3339 pins the written form of the time.
func TestReceivedAtIsRFC3339(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.call(s.create("webhook.time"), "text/plain", "")
	written, _ := s.events()[traceOf(got)].object(t)["receivedAt"].(string)
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`).MatchString(written) {
		t.Errorf("receivedAt is %s", strconv.Quote(written))
	}
}

// TestForwardedAddress: who the client is, a proxy may say, but only one that is
// trusted.
func TestForwardedAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, trusted string
		forwarded     []string
		want          string
	}{
		{"nobody is trusted", "", []string{"203.0.113.7"}, "127.0.0.1"},
		{"another proxy is trusted", "10.0.0.0/8", []string{"203.0.113.7"}, "127.0.0.1"},
		{"the proxy is trusted", "127.0.0.1", []string{"203.0.113.7"}, "203.0.113.7"},
		{"the proxy says nothing", "127.0.0.1", nil, "127.0.0.1"},
		{"what the client claims is before what the proxy saw", "127.0.0.1", []string{"198.51.100.1, 203.0.113.7"}, "203.0.113.7"},
		{"two trusted proxies", "127.0.0.0/8,10.0.0.0/8", []string{"203.0.113.7", "10.1.2.3"}, "203.0.113.7"},
		{"all are trusted", "0.0.0.0/0", []string{"10.9.9.9, 10.1.2.3"}, "10.9.9.9"},
		{"the proxy says no address", "127.0.0.1", []string{"unknown"}, "127.0.0.1"},
		{"IPv6", "127.0.0.1", []string{"2001:DB8::7"}, "2001:db8::7"},
		{"IPv4 written as IPv6", "127.0.0.1", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, "trusted-proxies="+test.trusted)
			alterations := []func(*http.Request){}
			for _, value := range test.forwarded {
				alterations = append(alterations, header("X-Forwarded-For", value))
			}
			got := s.call(s.create("webhook.from"), "text/plain", "", alterations...)
			if from := s.events()[traceOf(got)].RemoteAddr; from != test.want {
				t.Errorf("remoteAddr is %s, want %s", from, test.want)
			}
		})
	}
}
