package value_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"sluice/value"
)

// FuzzInspect: the levels of a JSON text are counted as a parser would, and no
// value is left out.
func FuzzInspect(f *testing.F) {
	for _, text := range []string{`[]`, `{"a":[{}]}`, `"[[["`, `["\"[",{"]":1}]`, `1`, `"\\"`, `[[[`, `]`, `{"\\":"["}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		levels, values := value.Inspect(text)
		if !json.Valid(text) {
			return
		}
		now, deepest := 0, 0
		dec := json.NewDecoder(bytes.NewReader(text))
		for token, err := dec.Token(); err == nil; token, err = dec.Token() {
			switch token {
			case json.Delim('['), json.Delim('{'):
				now++
				deepest = max(deepest, now)
			case json.Delim(']'), json.Delim('}'):
				now--
			}
		}
		if levels != deepest {
			t.Fatalf("%q has %d levels, want %d", text, levels, deepest)
		}
		v, err := value.Decode(text)
		if err != nil {
			return
		}
		var s value.Scale
		if err := s.Add(v); err == nil && s.Items >= values {
			t.Fatalf("%q has %d values, and %d items in its lists and objects", text, values, s.Items)
		}
	})
}
