package value_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/value"
)

var jsonTexts = []string{
	``, ` `, `{}`, `[]`, ` [ ] `, `{ }`, `{"a":1}`, `{"a":[1,{"b":null}],"c":"d"}`, `[1,2]`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`,
	`[`, `{`, `]`, `}`, `[}`, `{]`, `[1}`, `{"a":1]`, `[[],[{}]]`, `[]]`, `{}{}`, `1 2`, `"a" "b"`, `[1 2]`, `{"a" 1}`, `{"a":1 "b":2}`,
	`true`, `false`, `null`, `tru`, `nulls`, `TRUE`, `NaN`,
	`0`, `-0`, `-`, `01`, `1.`, `1.5`, `.5`, `1e5`, `1E+5`, `1e-05`, `1e`, `1e+`, `--1`, `+1`, `1e400`, `-1.2e3x`,
	`""`, `"`, `"a`, `"abcdefgh"`, `"abcdefghi\"jklmnop"`, `"\u00e4"`, `"\u00E4"`, `"\u00g0"`, `"\u00"`, `"\x"`, `"\`, `"\"`, `"\ud800"`, `"\/\b\f\n\r\t"`,
	"\"a\tb\"", "\"a\x00b\"", "\"\x7f\"", "\"abcdefg\x1fabcdefgh\"", `"Zürich liegt an der Limmat 🚰"`, "\"\xff\"", "\"abc\xc3\"", "\"\xed\xa0\x80\"", "\xef\xbb\xbf{}", "\u00a01",
}

// FuzzValid: what is valid is what encoding/json takes, in UTF-8, and not too deep.
func FuzzValid(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add([]byte(text))
	}
	for _, levels := range []int{value.MaxDepth, value.MaxDepth + 1} {
		f.Add([]byte(strings.Repeat("[", levels) + strings.Repeat("]", levels)))
		f.Add([]byte(strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		levels, _ := value.Inspect(text)
		want := json.Valid(text) && utf8.Valid(text) && levels <= value.MaxDepth
		if got := value.Valid(text); got != want {
			t.Errorf("%q: valid is %t, want %t", text, got, want)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	for name, text := range map[string]string{
		"one long string": `{"data":"` + strings.Repeat("x", 100_000) + `"}`,
		"small members":   `[` + strings.Repeat(`{"id":12345,"name":"Zoë","tags":["a","b"],"paid":true},`, 1500) + `{}]`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				value.Valid([]byte(text))
			}
		})
		b.Run(name+", by encoding/json", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				json.Valid([]byte(text))
			}
		})
	}
}
