package value

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestLengthIsFoundBefore: no JSON is longer than what was said before it was made, and large
// ones are not much shorter.
func TestLengthIsFoundBefore(t *testing.T) {
	type item struct {
		Name   string          `json:"name"`
		Count  int             `json:"count,omitempty"`
		Ratio  float64         `json:"ratio"`
		At     time.Time       `json:"at,omitzero"`
		Raw    json.RawMessage `json:"raw,omitempty"`
		Bytes  []byte          `json:"bytes,omitempty"`
		Within *item           `json:"within,omitempty"`
	}
	small := item{Name: "a \"quoted\" name", Count: -1 << 62, Ratio: -1.7976931348623157e308, At: time.Now(), Raw: json.RawMessage(`{"a":[1,2]}`)}
	for name, v := range map[string]any{
		"nothing": nil, "a number": -1.7976931348623157e308, "an item": small, "an item within": item{Within: &small},
		"many":            []any{small, &small, map[string]any{"x": small, "y": []int{1, 2}}},
		"NUL":             strings.Repeat("\x00", 1<<20),
		"no UTF-8":        strings.Repeat("\xff", 1<<20),
		"separators":      strings.Repeat("\u2028", 1<<20),
		"plain":           strings.Repeat("plain text ", 1<<17),
		"bytes":           item{Bytes: make([]byte, 1<<20)},
		"JSON":            json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`),
		"a map of texts":  map[string]string{strings.Repeat("\x01", 1<<16): strings.Repeat("\n", 1<<20)},
		"lists of lists":  [][]string{{"a", "b"}, nil, {strings.Repeat("\\", 1<<20)}},
		"a list of items": func() (all []item) { return append(all, make([]item, 1000)...) }(),
	} {
		made, err := Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if said := Length(v); int64(len(made)) > said+1 || said > 7*int64(len(made))+100 {
			t.Errorf("%s has %d bytes, and %d were said", name, len(made), said)
		}
	}
}
