package sluice

import (
	"reflect"
	"testing"
)

// FuzzDecodeJSON: the value and the error are those that encoding/json comes to.
func FuzzDecodeJSON(f *testing.F) {
	for _, text := range []string{
		``, ` `, `null`, ` true `, `false`, `nul`, `trues`, `"a"`, `"a`, `"a\"b\\"`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, `"\x"`, "\"\x01\"", "\"\xff\"", "\"é\"",
		`0`, `-0`, `00`, `01`, `-1`, `1.50`, `1e3`, `1E+3`, `1e`, `1.`, `.5`, `+1`, `-`, `123456789012345678`, `1234567890123456789`, `99999999999999999999`, `1-2`,
		`[]`, `[ ]`, `[1,2]`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `[[],[[]]]`, `[1]]`,
		`{}`, `{ }`, `{"a":1}`, `{"a":1,"a":2}`, `{"a":{"b":[1,{"c":null}]},"d":[]}`, `{"a":1,}`, `{a:1}`, `{"a"}`, `{"a":}`, `{"a" :1 , "b": 2 }`, `{"a":1`, `{"\u0061":1}`, `1 2`, "\xef\xbb\xbf1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := string(data)
		got, err := DecodeJSON(data)
		want, wantErr := decodeStandard(data)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %#v, want %#v", data, got, want)
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%q fails with %v, want %v", data, err, wantErr)
		}
		event, err := DecodeEvent(data)
		if want, ok := want.(map[string]any); (err == nil) != ok || ok && !reflect.DeepEqual(event, want) {
			t.Fatalf("%q is the event %#v, %v; want %#v", data, event, err, want)
		}
		if string(data) != before {
			t.Fatalf("%q was changed to %q", before, data)
		}
	})
}

func TestDeepValues(t *testing.T) {
	for _, depth := range []int{maxFastDepth - 1, maxFastDepth, maxFastDepth + 1, 20_000} {
		data := make([]byte, 0, 2*depth)
		for range depth {
			data = append(data, '[')
		}
		for range depth {
			data = append(data, ']')
		}
		got, err := DecodeJSON(data)
		want, wantErr := decodeStandard(data)
		if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("%d deep: %v, want %v", depth, err, wantErr)
		}
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	event := Event{
		EventKey: "webhook.lead.created", Namespace: "default", TraceID: "webhook-123456-abcdefghijklmnop", Listeners: []string{"a"},
		Payload: []byte(`{"origin":"` + string(make64(1366)) + `"}`), PayloadType: Base64, PayloadEncoding: EncodingBase64,
		ContentType: "application/json", Method: "POST", RemoteAddr: "127.0.0.1:40000",
		Headers: Headers{{"content-length", "1024"}, {"content-type", "application/json"}, {"host", "127.0.0.1:8080"}, {"user-agent", "curl/8"}},
	}
	data := event.AppendJSON(nil)
	for name, decode := range map[string]func([]byte) (any, error){
		"here": DecodeJSON[[]byte], "standard": decodeStandard,
		"event": func(data []byte) (any, error) { return DecodeEvent(data) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// make64 gives a text as long as a payload in base64.
func make64(length int) []byte {
	text := make([]byte, length)
	for i := range text {
		text[i] = 'A' + byte(i%26)
	}
	return text
}
