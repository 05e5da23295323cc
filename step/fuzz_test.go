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
	if err != nil && to == "Form" && sluice.AsError(err).Code == "base64-given" {
		return // a field without a value can be named so that it can't be told from base64
	}
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

// FuzzFromForm: what is read survives being written.
func FuzzFromForm(f *testing.F) {
	for _, seed := range []string{"", "a=1&b=2&a=3", "a", "=", "&&", "a=%", "a=%ff", "a+b=c%26", "a=1;b=2", "YT0xJmI9Mg==", "a==b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { survives(t, text, "Form", "Form") })
}

// FuzzFromXml: what is read survives being written.
func FuzzFromXml(f *testing.F) {
	for _, seed := range []string{
		"", "<a/>", "<a b='1'>x<c/>y<c> </c></a>", "<?xml version='1.0' encoding='x'?><a:b xmlns:a='u'>&amp;&#9;&#13;</a:b>", "<!DOCTYPE a><a/>", "<a>&x;</a>",
		"<a><![CDATA[]]]]><![CDATA[>]]></a>", "<a><!-- b --></a><!-- c -->", "<a\u0301/>", "<a b='1' b='2'/>", "<a></b>", "<:a/>", "<a:/>", "<a b=c/>", "\xff", "<a>\x01</a>", "<\u0660/>", "<a\u00b7/>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { survives(t, text, "Xml", "Xml") })
}

// FuzzFromGzip: what is read is text or base64, within the limit.
func FuzzFromGzip(f *testing.F) {
	for _, seed := range []string{"", "H4sIAAAAAAACA8s4vBIAS9xY9gMAAAA=", "H4sIAAAAAAACA/vPAACN7/3SAgAAAA==", "H4sIAAAAAAACA8s4vBIA", "H4sI", "?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		unpacked, err := functions["convert.fromGzip"](text)
		if err != nil {
			ours(t, err)
			return
		}
		packed, err := functions["convert.toGzip"](unpacked)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := functions["convert.fromGzip"](packed); err != nil || again != unpacked {
			t.Errorf("%q came back as %q (%v)", unpacked, again, err)
		}
	})
}

// FuzzCharset: what is decoded is text without replacements, or an error.
func FuzzCharset(f *testing.F) {
	for _, charset := range []string{"utf-8", "windows-1252", "utf-16le", "shift_jis", "gb18030", "iso-2022-jp", "big5", "euc-kr", "replacement", "x-user-defined", "nonsense"} {
		f.Add("YWJj", charset)
		f.Add("//5hAA==", charset)
		f.Add("gqA=", charset)
	}
	f.Fuzz(func(t *testing.T, text, charset string) {
		decoded, err := functions["convert.fromBase64"](text, charset)
		if err != nil {
			ours(t, err)
			return
		}
		if decoded := decoded.(string); !utf8.ValidString(decoded) || charset != "" && strings.ContainsRune(decoded, utf8.RuneError) {
			t.Errorf("%q in %q is %q", text, charset, decoded)
		}
	})
}
