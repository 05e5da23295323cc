package value_test

import (
	"encoding/json"
	"testing"

	"sluice/value"
)

// FuzzAppendString: the string is the one that encoding/json makes, or
// another spelling of it.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/", "\x00\x1f\x7f\b\f\n\r\t", "ü€😀", "\xff", "a\xc3", "\xed\xa0\x80", "\u2028\u2029", "<&>", "\ufffd", "\xf0\x9f\x98"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := value.AppendString([]byte("["), s)
		if alike := value.AppendString([]byte("["), []byte(s)); string(alike) != string(got) {
			t.Fatalf("the same bytes give %q and %q", got, alike)
		}
		if got[0] != '[' {
			t.Fatalf("what was there became %q", got)
		}
		standard, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, back string
		if err := json.Unmarshal(standard, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got[1:], &back); err != nil {
			t.Fatalf("%v: %q", err, got)
		}
		if back != want {
			t.Fatalf("%q is read back as %q, want %q", s, back, want)
		}
	})
}

func TestMarshalLeavesWhatHTMLEscapes(t *testing.T) {
	for _, write := range []func(any) ([]byte, error){value.Marshal, value.MarshalIndent} {
		got, err := write(json.RawMessage(`"<a href='x'>&\u2028"`))
		if want := `"<a href='x'>&\u2028"`; err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	if _, err := value.Marshal(func() {}); err == nil {
		t.Error("a function has JSON")
	}
}
