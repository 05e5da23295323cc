package value_test

import (
	"encoding/json"
	"errors"
	"testing"

	"sluice/value"
)

// TestMembers: members are shown as they are written, in order; what is not one object has none.
func TestMembers(t *testing.T) {
	stop := errors.New("stop")
	for text, want := range map[string]struct {
		shown string
		err   error
	}{
		`{}`:                             {"", nil},
		` {"a": 1, "b":[ 2 ],"a":null} `: {`a=1 b=[ 2 ] a=null `, nil},
		`{"\u0061":"x"}`:                 {`a="x" `, nil},
		`{"a":1,"stop":2,"b":3}`:         {`a=1 `, stop},
		`{"a":1`:                         {"", value.ErrNoObject},
		`{"a":1} {}`:                     {"", value.ErrNoObject},
		`{"a":}`:                         {"", value.ErrNoObject},
		`[1]`:                            {"", value.ErrNoObject},
		``:                               {"", value.ErrNoObject},
		`{"a":1}]`:                       {"", value.ErrNoObject},
	} {
		shown := ""
		err := value.Members([]byte(text), func(name string, content json.RawMessage) error {
			if name == "stop" {
				return stop
			}
			shown += name + "=" + string(content) + " "
			return nil
		})
		if shown != want.shown || !errors.Is(err, want.err) {
			t.Errorf("%s: %q, %v", text, shown, err)
		}
	}
}

// TestParts: parts are shown as they are written, and where a text is malformed, the last one has no value.
func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `7`: ``, `[]`: ``, ` { } `: ``,
		` [ 1 , [2, 3],"a" ] x`:       `1 [2, 3] "a" `,
		`{"a":1, "\u0062" : {"c":2}}`: `a=1 b={"c":2} `,
		`[1 2]`:                       `1 ! `,
		`[1`:                          `1 ! `,
		`[`:                           `! `,
		`{"a":1 "b":2}`:               `a=1 ! `,
		`{"a" 1}`:                     `a=! `,
		`{1:2}`:                       `! `,
		`{"a":}`:                      `a=! `,
	} {
		got := ""
		for p := range value.Parts([]byte(text)) {
			if p.Name != nil {
				got += p.Text() + "="
			}
			if p.Value == nil {
				got += "! "
				continue
			}
			if text[p.At:p.At+len(p.Value)] != string(p.Value) {
				t.Errorf("%s: %s is not at %d", text, p.Value, p.At)
			}
			got += string(p.Value) + " "
		}
		if got != want {
			t.Errorf("%s has the parts %s, want %s", text, got, want)
		}
	}
}
