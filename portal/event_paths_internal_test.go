package portal

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"sluice"
)

// TestEventPaths: an event is shown as the expressions that yield its values,
// however large or deep it is.
func TestEventPaths(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		encoding sluice.Encoding
		payload  string
		want     []string // lines
		more     bool
	}{
		"an object":         {sluice.EncodingJSON, `{"b":{"e-mail":"<b>"},"a":null,"n":12345678901234567890}`, []string{`body.payload.b["e-mail"] "<b>"`, `body.payload.a null`, `body.payload.n 12345678901234567890`}, false},
		"a long list":       {sluice.EncodingJSON, `[1,{"x":2},[],4,5]`, []string{`body.payload[0] 1`, `body.payload[1].x 2`, `body.payload[2] []`, `len(body.payload) 5`}, false},
		"a text":            {sluice.EncodingText, `"hello"`, []string{`body.payload "hello"`}, false},
		"too much":          {sluice.EncodingJSON, `{"a":0` + strings.Repeat(`,"a":1`, 1000) + `}`, nil, true},
		"too deep":          {sluice.EncodingJSON, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), []string{"body.payload" + strings.Repeat("[0]", 12) + " " + strings.Repeat("[", 119) + "…"}, false},
		"bytes that are":    {sluice.EncodingBase64, `{"origin":"` + base64.StdEncoding.EncodeToString([]byte(`{"n":1}`)) + `"}`, []string{`convert.fromJson(convert.fromBase64(body.payload.origin)).n 1`}, false},
		"bytes that aren’t": {sluice.EncodingBase64, `{"origin":"` + base64.StdEncoding.EncodeToString([]byte("hi")) + `"}`, []string{`convert.fromBase64(body.payload.origin) "hi"`}, false},
	} {
		event := eventSeen(tracedCall{PayloadEncoding: test.encoding, Payload: json.RawMessage(test.payload)})
		var got []string
		for _, p := range event.Paths {
			got = append(got, p.Path+" "+p.Value)
		}
		if event.More != test.more || test.want != nil && strings.Join(got, "\n") != strings.Join(test.want, "\n") || len(got) > maxPaths {
			t.Errorf("%s: %v %d lines:\n%s", name, event.More, len(got), strings.Join(got, "\n"))
		}
	}
}
