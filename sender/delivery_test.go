package sender

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/value"
)

func TestDeliveryID(t *testing.T) {
	header := func(values ...string) http.Header { return http.Header{"X-Id": values} }
	tests := []struct {
		name, dedupe string
		call         Call
		id, code     string
	}{
		{"header", "header:x-id", Call{Header: header("a-1")}, "a-1", "ok"},
		{"no header", "header:X-Id", Call{Header: http.Header{}}, "", "ok"},
		{"empty header", "header:X-Id", Call{Header: header("")}, "", "delivery-id-invalid"},
		{"two headers", "header:X-Id", Call{Header: header("a", "a")}, "", "delivery-id-invalid"},
		{"256 bytes", "header:X-Id", Call{Header: header(strings.Repeat("x", 256))}, strings.Repeat("x", 256), "ok"},
		{"257 bytes", "header:X-Id", Call{Header: header(strings.Repeat("x", 257))}, "", "delivery-id-invalid"},
		{"control characters", "header:X-Id", Call{Header: header("a\tb")}, "", "delivery-id-invalid"},
		{"not UTF-8", "header:X-Id", Call{Header: header("\xff")}, "", "delivery-id-invalid"},
		{"query", "query:id", Call{URL: "https://x/?token=t&id=a%201"}, "a 1", "ok"},
		{"query with an encoded name", "query:i d", Call{URL: "https://x/?i+d=1"}, "1", "ok"},
		{"no query", "query:id", Call{URL: "https://x/"}, "", "ok"},
		{"query twice", "query:id", Call{URL: "https://x/?id=1&id=2"}, "", "delivery-id-invalid"},
		{"query with a line end", "query:id", Call{URL: "https://x/?id=%0a"}, "", "delivery-id-invalid"},
		{"body", "body:id", Call{Body: []byte(`{"other": {"id": "no"}, "id": "evt_1"}`)}, "evt_1", "ok"},
		{"member of a member", "body:a.b.c", Call{Body: []byte(` { "a" : { "x":[{"b":1}], "b" : {"c":"ü\u00e9"} } } `)}, "üé", "ok"},
		{"number", "body:id", Call{Body: []byte(`{"id":12345678901234567890}`)}, "12345678901234567890", "ok"},
		{"escaped name", "body:id", Call{Body: []byte(`{"\u0069d":"1"}`)}, "1", "ok"},
		{"braces in texts", "body:id", Call{Body: []byte(`{"a":"}\"{[","id":"1"}`)}, "1", "ok"},
		{"the only one of a list", "body:0.id", Call{Body: []byte(`[{"id":"1"}]`)}, "1", "ok"},
		{"one of two in a list", "body:0.id", Call{Body: []byte(`[{"id":"1"},{"id":"2"}]`)}, "", "ok"},
		{"an empty list", "body:0.id", Call{Body: []byte(`[]`)}, "", "ok"},
		{"a member called 0", "body:0", Call{Body: []byte(`{"0":"1"}`)}, "1", "ok"},
		{"null", "body:id", Call{Body: []byte(`{"id":null}`)}, "", "ok"},
		{"true", "body:id", Call{Body: []byte(`{"id":true}`)}, "", "ok"},
		{"an object", "body:id", Call{Body: []byte(`{"id":{"x":1}}`)}, "", "ok"},
		{"not there", "body:id", Call{Body: []byte(`{"a":1}`)}, "", "ok"},
		{"no object", "body:id", Call{Body: []byte(`"id"`)}, "", "ok"},
		{"no JSON", "body:id", Call{Body: []byte(`id=1`)}, "", "ok"},
		{"cut off", "body:id", Call{Body: []byte(`{"a":{"id":`)}, "", "ok"},
		{"empty", "body:id", Call{}, "", "ok"},
		{"long", "body:id", Call{Body: []byte(`{"id":"` + strings.Repeat("x", 300) + `"}`)}, "", "delivery-id-invalid"},
		{"escaped control character", "body:id", Call{Body: []byte(`{"id":"a\u0000b"}`)}, "", "delivery-id-invalid"},
		{"off", "off", Call{Header: header("a")}, "", "ok"},
		{"no event of the CNCF", "cloudevent", Call{Header: header("a")}, "", "ok"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := ParseDedupe(test.dedupe)
			if err != nil {
				t.Fatal(err)
			}
			if id, err := d.ID(&test.call); id != test.id || codeOf(err) != test.code {
				t.Errorf("%q, %v", id, err)
			}
		})
	}
}

func TestBadDedupe(t *testing.T) {
	for _, text := range []string{
		"", "on", "X-Id", "header:", "header:a b", "header:ü", "query:", "body:", "body:a..b", "body:.", "cookie:x", "off:x", "cloudevent:x",
		"body:" + strings.Repeat("a.", 16) + "a", "body:" + strings.Repeat("a", 300), "query:" + strings.Repeat("a", 300), "body:\xff",
	} {
		if d, err := ParseDedupe(text); codeOf(err) != "parameter-invalid" {
			t.Errorf("%q gives %v, %v", text, d, err)
		}
	}
}

// lookup agrees with encoding/json wherever a body is JSON.
func FuzzLookup(f *testing.F) {
	f.Add([]byte(`{"a":{"b":"c"},"id":[{"id":1}]}`), "id.0.id")
	f.Add([]byte(`{"a":"\"}","id":-1e5}`), "id")
	f.Add([]byte(` [ {"x" : null} ] `), "0.x")
	f.Add([]byte(`{"a":[1,2,{"b":[]}],"c":{}}`), "c")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		found := value.Lookup(body, strings.Split(path, ".")...)
		if !json.Valid(body) || !utf8.Valid(body) {
			return
		}
		want := body
		for name := range strings.SplitSeq(path, ".") {
			want = slowMember(want, name)
		}
		if string(found) != string(want) {
			t.Errorf("%q in %q gives %q, want %q", path, body, found, want)
		}
	})
}

// slowMember returns the first member of an object with that name, or the only
// element of a list.
func slowMember(value []byte, name string) (found []byte) {
	dec := json.NewDecoder(bytes.NewReader(value))
	open, _ := dec.Token()
	for n := 0; dec.More(); n++ {
		key := "0"
		if open == json.Delim('{') {
			token, _ := dec.Token()
			key, _ = token.(string)
		} else if open != json.Delim('[') || n > 0 {
			return nil
		}
		var member json.RawMessage
		if dec.Decode(&member) != nil {
			return nil
		}
		if found == nil && key == name {
			found = member
		}
	}
	return found
}
