package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// FuzzDecode: the value and the error are those that encoding/json comes to.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		``, ` `, `null`, ` true `, `false`, `nul`, `trues`, `"a"`, `"a`, `"a\"b\\"`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, `"\x"`, "\"\x01\"", "\"\xff\"", "\"é\"",
		`0`, `-0`, `00`, `01`, `-1`, `1.50`, `1e3`, `1E+3`, `1e`, `1.`, `.5`, `+1`, `-`, `123456789012345678`, `1234567890123456789`, `99999999999999999999`, `1-2`,
		`[]`, `[ ]`, `[1,2]`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `[[],[[]]]`, `[1]]`,
		`{}`, `{ }`, `{"a":1}`, `{"a":1,"a":2}`, `{"a":{"b":[1,{"c":null}]},"d":[]}`, `{"a":1,}`, `{a:1}`, `{"a"}`, `{"a":}`, `{"a" :1 , "b": 2 }`, `{"a":1`, `{"\u0061":1}`, `1 2`, "\xef\xbb\xbf1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := string(data)
		got, err := Decode(data)
		want, wantErr := decodeStandard(data)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %#v, want %#v", data, got, want)
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%q fails with %v, want %v", data, err, wantErr)
		}
		object, err := DecodeObject(data)
		if want, ok := want.(map[string]any); (err == nil) != ok || ok && !reflect.DeepEqual(object, want) {
			t.Fatalf("%q is the object %#v, %v; want %#v", data, object, err, want)
		}
		if string(data) != before {
			t.Fatalf("%q was changed to %q", before, data)
		}
	})
}

// decodeStandard is Decode with encoding/json.
func decodeStandard(data []byte) (any, error) {
	if levels, _ := Inspect(data); levels > MaxDepth+1 {
		return nil, TooDeep()
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &json.SyntaxError{Offset: dec.InputOffset()}
	}
	return exactNumbers(v), nil
}

func exactNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return exactNumber(v)
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exactNumbers(v[name])
		}
	}
	return v
}

// TestDepth: a value is taken up to one depth, whoever decodes, writes or weighs
// it, and refused with one error beyond.
func TestDepth(t *testing.T) {
	for _, levels := range []int{1, MaxDepth, MaxDepth + 1, MaxDepth + 2, 20_000} {
		text := strings.Repeat("[", levels) + strings.Repeat("]", levels)
		deep := any([]any{})
		for range levels - 1 {
			deep = []any{deep}
		}
		decoded, err := Decode(text)
		_, standard := decodeStandard([]byte(text))
		_, spoilt := Decode(text[:levels] + "\"\xff\"" + text[levels:]) // only encoding/json takes it
		written, writing := AppendJSON(nil, deep, MaxSize)
		weighing := new(Scale).Add(deep)
		for who, err := range map[string]error{"decoded": err, "decoded by encoding/json": standard, "decoded with a flaw": spoilt, "written": writing, "weighed": weighing} {
			refused, _ := errors.AsType[*Error](err)
			if levels <= MaxDepth+1 && err != nil || levels > MaxDepth+1 && (refused == nil || refused.Code != "value-too-deep" || !refused.Size) {
				t.Errorf("%s, %d levels: %v", who, levels, err)
			}
		}
		if err == nil && (!reflect.DeepEqual(decoded, deep) || string(written) != text) {
			t.Errorf("%d levels became others", levels)
		}
	}
}
