package sluice_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

// FuzzEventJSON: an event is read back as encoding/json would have written it,
// whatever is in its fields.
func FuzzEventJSON(f *testing.F) {
	f.Add("webhook.a", "text/plain", "name", "value", []byte(`{"origin":""}`), int64(0))
	f.Add("\"\\\x00\xff", "", "", "", []byte(nil), int64(-1))
	f.Add("k", "ü", "\u2028", "<>&", []byte(`[1e400,"\ud800"]`), int64(1700000000123456789))
	f.Fuzz(func(t *testing.T, eventKey, contentType, name, value string, payload []byte, nanoseconds int64) {
		if len(payload) == 0 || !json.Valid(payload) {
			payload = nil
		}
		at := time.Unix(0, nanoseconds).UTC()
		if at.Year() < 0 || at.Year() > 9999 {
			return
		}
		event := sluice.Event{
			EventKey: eventKey, Namespace: value, TraceID: name, ReceivedAt: at, Payload: payload,
			PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingJSON, ContentType: contentType, Method: "POST",
			Query:      map[string][]string{name: {value, contentType}},
			Headers:    sluice.Headers{{Name: name, Value: value}},
			RemoteAddr: eventKey,
		}
		standard, err := json.Marshal(map[string]any{
			"eventKey": eventKey, "namespace": value, "traceId": name, "receivedAt": at, "payload": json.RawMessage(payload),
			"payloadType": "raw", "payloadEncoding": "json", "contentType": contentType, "method": "POST",
			"query":      event.Query,
			"headers":    map[string]string{name: value},
			"remoteAddr": eventKey,
		})
		if err != nil {
			t.Fatal(err)
		}
		want, got := object(t, standard), object(t, event.AppendJSON(nil))
		if payload == nil {
			delete(want, "payload")
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("the event is another one (-want +got):\n%s", cmp.Diff(want, got))
		}
	})
}

// object decodes JSON with its numbers as they are written.
func object(t *testing.T, data []byte) (o map[string]any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&o); err != nil {
		t.Fatalf("%v: %q", err, data)
	}
	return o
}

// TestEventRoundTrip: what is stored is read back as the same event.
func TestEventRoundTrip(t *testing.T) {
	event := sluice.Event{
		EventKey: "webhook.a", Namespace: "default", TraceID: "abcdef:0123456789",
		ReceivedAt: time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC), Payload: json.RawMessage(`{"n":12345678901234567890.10}`),
		PayloadType: sluice.Raw, PayloadEncoding: sluice.EncodingJSON, ContentType: "application/json", Method: "POST",
		Query:      map[string][]string{"a": {"1", "2"}, "b": {""}},
		Headers:    sluice.Headers{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}},
		RemoteAddr: "192.0.2.1",
	}
	var got sluice.Event
	if err := json.Unmarshal(event.AppendJSON(nil), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(event, got); diff != "" {
		t.Errorf("the event is another one (-stored +read):\n%s", diff)
	}
}

// TestEventWithoutPayload: no payload is no field, not a null.
func TestEventWithoutPayload(t *testing.T) {
	event := sluice.Event{PayloadType: sluice.Ignore, PayloadEncoding: sluice.EncodingNone}
	if got := object(t, event.AppendJSON(nil)); got["query"] == nil || got["headers"] == nil {
		t.Errorf("query and headers are %v and %v, want empty objects", got["query"], got["headers"])
	} else if _, there := got["payload"]; there {
		t.Error("there is a payload")
	}
}

func BenchmarkEventJSON(b *testing.B) {
	event := sluice.Event{
		EventKey: "webhook.lead.created", Namespace: "default", TraceID: "webhook-123456-abcdefghijklmnop", Listeners: []string{"a"},
		Payload: []byte(`{"origin":"` + strings.Repeat("abcdefghijklmnopqrstuvwxyz", 52) + `"}`), PayloadType: sluice.Base64, PayloadEncoding: sluice.EncodingBase64,
		ContentType: "application/json", Method: "POST", RemoteAddr: "127.0.0.1:40000",
		Headers: sluice.Headers{{Name: "content-length", Value: "1024"}, {Name: "content-type", Value: "application/json"}, {Name: "host", Value: "127.0.0.1:8080"}, {Name: "user-agent", Value: "curl/8"}},
	}
	b.ReportAllocs()
	var written []byte
	for b.Loop() {
		written = event.AppendJSON(written[:0])
	}
}
