package step_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/step"
)

// ours checks that an error is one for the author of a pipeline.
func ours(t *testing.T, err error) {
	t.Helper()
	if e := sluice.AsError(err); e.Kind != sluice.Invalid && e.Kind != sluice.TooLarge {
		t.Errorf("got %v", err)
	}
}

// FuzzFromBase64: what is decoded encodes to the same digits, and is text.
func FuzzFromBase64(f *testing.F) {
	for _, seed := range []string{"", "YQ==", "YQ", "YQ=\r\n=", "Pz8_Pj4-", "/w==", "====", "Y===", "Y Q", "YWJj\nYW?j", "\u00e4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		decoded, err := functions["convert.fromBase64"](text)
		if err != nil {
			ours(t, err)
			return
		}
		if !utf8.ValidString(decoded.(string)) {
			t.Fatalf("%q is not text", decoded)
		}
		digits := strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "", "=", "").Replace(text)
		encoded := base64.RawStdEncoding.EncodeToString([]byte(decoded.(string)))
		if len(encoded) != len(digits) || len(digits) > 0 && encoded[:len(encoded)-1] != digits[:len(digits)-1] {
			t.Errorf("%q was read as %q", text, decoded)
		}
	})
}

// FuzzFromYaml: what is read is plain, and survives being written.
func FuzzFromYaml(f *testing.F) {
	for _, seed := range []string{
		"", "a: [1, 2.5, x, ~, true]", "--- |\n  text\n...\n", "a: &x 1\nb: *x", "!!binary aGk=", "? [a]\n: 1", "[.inf, 0x1F, 01, 1_0, 1e400]",
		"{1: a, <<: {b: 1}}", "\"\\u0000\\x85\"", "- - - a\n    # c\n", "%YAML 1.1\n---\na", "a\n---\nb", "\xff", "'\n\n a'", "\t", ">-\n\n  a\n   b\n", `"\ta\n"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { survives(t, text, "Yaml", "Yaml") })
}

// FuzzFromJson: what is read survives being written.
func FuzzFromJson(f *testing.F) {
	for _, seed := range []string{"", "[1,2.5,\"x\",null,true]", "{\"a\":{\"a\":1},\"a\":2}", "1e400", "-0", "\"\\ud800\"", "[[[", "{} x", "\"\\", "123456789012345678901234567890", `["\n a\n\n", " x\n", "\u0085\u2028", "- a", "#", "a: b", "\ufeff", "~", "0o7", "<<", {"<<":1,"":2,"\n":3}]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		survives(t, text, "Json", "Json")
		survives(t, text, "Json", "Yaml")
	})
}

var functions = step.Functions()

// survives reads a text of one format, and checks that its value can be written
// and read in another without a change.
func survives(t *testing.T, text, from, to string) {
	t.Helper()
	value, err := functions["convert.from"+from](text)
	if err != nil {
		ours(t, err)
		return
	}
	written, err := functions["convert.to"+to](value)
	if err != nil {
		t.Fatalf("%#v can't be written: %v", value, err)
	}
	again, err := functions["convert.from"+to](written)
	if err != nil {
		t.Fatalf("%q can't be read back: %v", written, err)
	}
	before, err := functions["convert.toJson"](value)
	if err != nil {
		t.Fatal(err)
	}
	after, err := functions["convert.toJson"](again)
	if err != nil || before != after {
		t.Errorf("written as %q, %s is read as %s (%v)", written, before, after, err)
	}
}

// FuzzFromCsv: what is read survives being written, with a header or without.
func FuzzFromCsv(f *testing.F) {
	for _, seed := range []string{"", "a,b\n1,2\n", "a\n\"\"\n", "\ufeffa;b\r\n\"x\r\ny\";\"\"\"\"\n", "a,a\n", "a,b\n1\n", "\"", "a\"b,c\n", "\n\n\n", "=1+1,@x\n"} {
		f.Add(seed, ",", true)
		f.Add(seed, ";", false)
	}
	set := newSet(step.Options{})
	f.Fuzz(func(t *testing.T, text, delimiter string, header bool) {
		options := args{"input": text, "delimiter": delimiter, "header": header}
		rows, err := call(t.Context(), set, "convert.fromCsv", options)
		if err != nil {
			ours(t, err)
			return
		}
		options["input"] = rows
		written, err := call(t.Context(), set, "convert.toCsv", options)
		if err != nil {
			t.Fatalf("%#v can't be written: %v", rows, err)
		}
		options["input"] = written
		again, err := call(t.Context(), set, "convert.fromCsv", options)
		if err != nil {
			t.Fatalf("%q can't be read back: %v", written, err)
		}
		if diff := cmp.Diff(rows, again); diff != "" {
			t.Errorf("written as %q, it is read as something else (-before +after):\n%s", written, diff)
		}
	})
}
