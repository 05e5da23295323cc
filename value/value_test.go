package value_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/value"
)

type (
	list   = []any
	object = map[string]any
)

func TestAppendJSON(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-1`, `1.5`, `1e+100`, `12345678901234567890.12345678901234567890`, `""`, `"a\"\\\n<&>ü😀"`,
		`[]`, `{}`, `[1,[2,{"a":[null]}]]`, `{"a":1,"b":{"c":[true,false]}}`,
		`"` + strings.Repeat("x", 10_000) + strings.Repeat("äx€", 10_000) + `"`,
	} {
		v, err := value.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := value.AppendJSON([]byte("x"), v, value.MaxSize); string(got) != "x"+text || err != nil {
			t.Errorf("%.100s is written as %.100s, %v", text, got, err)
		}
	}
}

// TestAppendJSONStops: what is too large is not written to its end.
func TestAppendJSONStops(t *testing.T) {
	doubled := any("x")
	for range 60 {
		doubled = list{doubled, doubled}
	}
	tests := map[string]any{
		"a list many times":  doubled,
		"a text":             strings.Repeat("x", 100_000),
		"escapes":            list{strings.Repeat("\x01", 100_000)},
		"a name":             object{strings.Repeat("\x01", 100_000): 1},
		"one byte too many":  strings.Repeat("x", 999),
		"a name, and a text": object{"a": strings.Repeat("x", 1000)},
	}
	for name, v := range tests {
		got, err := value.AppendJSON(nil, v, 1000)
		if refused, _ := errors.AsType[*value.Error](err); refused == nil || refused.Code != "value-too-large" || len(got) > 50_000 {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if got, err := value.AppendJSON(nil, strings.Repeat("x", 998), 1000); err != nil || len(got) != 1000 {
		t.Errorf("what just fits: %d bytes, %v", len(got), err)
	}
}

func TestForeignValues(t *testing.T) {
	for name, v := range map[string]any{
		"not a number": math.NaN(), "infinite": list{math.Inf(1)}, "a time": object{"a": time.Time{}}, "a function": func() {}, "another list": list{[]string{"a"}},
	} {
		if _, err := value.AppendJSON(nil, v, 1000); !errors.Is(err, value.ErrForeign) {
			t.Errorf("writing %s: %v", name, err)
		}
		if err := new(value.Scale).Add(v); !errors.Is(err, value.ErrForeign) {
			t.Errorf("weighing %s: %v", name, err)
		}
	}
}

func TestScale(t *testing.T) {
	wide := object{}
	for i := range value.MaxItems + 1 {
		wide[strconv.Itoa(i)] = nil
	}
	tests := map[string]struct {
		scale value.Scale
		v     any
		code  string
	}{
		"all there is":          {value.Scale{}, list{nil, true, 1, 1.5, "a", json.Number("1"), object{"a": list{}}}, ""},
		"a long text":           {value.Scale{}, strings.Repeat("x", value.MaxSize), "value-too-large"},
		"a long number":         {value.Scale{Size: value.MaxSize - 10}, json.Number("12345678901"), "value-too-large"},
		"a long name":           {value.Scale{Size: value.MaxSize - 10}, object{"abcdefghijk": nil}, "value-too-large"},
		"a long list":           {value.Scale{}, make(list, value.MaxItems+1), "too-many-items"},
		"a wide object":         {value.Scale{}, wide, "too-many-items"},
		"what was added before": {value.Scale{Size: value.MaxSize - 1}, "a", "value-too-large"},
	}
	for name, test := range tests {
		err := test.scale.Add(test.v)
		if test.code == "" && err == nil {
			continue
		}
		if refused, _ := errors.AsType[*value.Error](err); refused == nil || refused.Code != test.code || !refused.Size {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
}

func TestPlain(t *testing.T) {
	type answer struct {
		At   time.Time      `json:"at"`
		Rows []map[int]bool `json:"rows"`
		Body any            `json:"body"`
	}
	given := answer{time.Unix(0, 0).UTC(), []map[int]bool{{1: true}}, json.Number("12345678901234567890")}
	want := object{"at": "1970-01-01T00:00:00Z", "rows": list{object{"1": true}}, "body": json.Number("12345678901234567890")}
	s := value.Scale{Size: 1}
	got, err := s.Plain(given)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the value is another one (-want +got):\n%s%v", diff, err)
	}
	twice := value.Scale{Size: 1}
	if err := twice.Add(want); err != nil || twice != s {
		t.Errorf("its weight is %+v, want %+v", s, twice)
	}
	if _, err := new(value.Scale).Plain(list{math.NaN()}); err == nil {
		t.Error("NaN became a value")
	}
	given.Body = strings.Repeat("x", value.MaxSize)
	_, err = new(value.Scale).Plain(given)
	if refused, _ := errors.AsType[*value.Error](err); refused == nil || refused.Code != "value-too-large" {
		t.Errorf("the error is %v", err)
	}
}

func TestEqual(t *testing.T) {
	different := list{nil, false, true, 0, 1, 1.5, json.Number("12345678901234567890"), "", "1", list{}, list{1}, list{1, 2}, object{}, object{"a": nil}, object{"a": 1}, object{"b": 1}}
	for i, a := range different {
		for j, b := range different {
			if value.Equal(a, b) != (i == j) {
				t.Errorf("%#v and %#v: %v", a, b, i != j)
			}
		}
	}
	if x, y := (list{1, object{"a": -2.0}}), (list{1.0, object{"a": -2}}); !value.Equal(x, y) {
		t.Error("1 and 1.0 are different")
	}
}

// TestWords: errors and descriptions are for people, and never show the value.
func TestWords(t *testing.T) {
	for _, v := range []any{nil, true, 42, 42.5, json.Number("42"), "secret42", list{42}, object{"secret42": 42}, time.Now()} {
		words := value.Describe(v)
		if words == "" || strings.Contains(words, "42") {
			t.Errorf("%#v is described as %q", v, words)
		}
	}
	var all bytes.Buffer
	for _, err := range []error{value.ErrForeign, value.TooDeep(), value.TooLarge(8 << 20), value.TooManyItems(), value.TooManyValues()} {
		all.WriteString(err.Error() + "\n")
	}
	want := `This has no form in JSON: it has a number that is not finite, or is no plain value.
Lists and objects are nested more than 1000 deep.
A value is larger than 8 MiB; work on a smaller part of it.
A list or object has more than 100000 items; work on a smaller part of it.
There are more than 1000000 values in this text; work on a smaller part of it.
`
	if diff := cmp.Diff(want, all.String()); diff != "" {
		t.Errorf("the errors read differently (-want +got):\n%s", diff)
	}
}
