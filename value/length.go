package value

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// maxLengthDepth bounds the nesting that is looked at: what is deeper comes from no caller.
const maxLengthDepth = 100

var (
	rawType  = reflect.TypeFor[json.RawMessage]()
	timeType = reflect.TypeFor[time.Time]()
)

// Length returns how many bytes the JSON of a Go value has, or a little more, without making it:
// a control character is one byte in memory and six in JSON, so memory must be found before.
func Length(v any) int64 { return length(reflect.ValueOf(v), 0) }

func length(v reflect.Value, depth int) (n int64) {
	const brackets, number = 5, 25 // or null; the longest, each with its comma
	if !v.IsValid() || depth > maxLengthDepth {
		return number
	}
	switch v.Kind() {
	case reflect.String:
		return stringLength(v.String())
	case reflect.Pointer, reflect.Interface:
		return length(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		switch {
		case v.Type() == rawType:
			return int64(v.Len()) + 1
		case v.Type().Elem().Kind() == reflect.Uint8:
			return int64(v.Len())*3/2 + number // base64, or numbers that are texts
		}
		for i := range v.Len() {
			n += length(v.Index(i), depth+1)
		}
		return n + brackets
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			n += length(entries.Key(), depth+1) + length(entries.Value(), depth+1) + 1
		}
		return n + brackets
	case reflect.Struct:
		return structLength(v, depth) + brackets
	}
	return number
}

func structLength(v reflect.Value, depth int) (n int64) {
	const around = 25 // the quotes, the name in another form, and a zero that is written
	if v.Type() == timeType {
		return int64(len(time.RFC3339Nano)) + 1
	}
	for i := range v.NumField() {
		if field := v.Type().Field(i); !v.Field(i).IsZero() || !strings.Contains(string(field.Tag), ",omit") {
			n += int64(len(field.Name)) + around + length(v.Field(i), depth+1)
		}
	}
	return n
}

// stringLength returns the length of a text in JSON, with its quotes and a comma.
func stringLength(text string) int64 {
	n := len(text) + 3
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == '\u007f':
			n += len(`\u0000`) - 1
		case c == '"' || c == '\\':
			n++
		case c == "\u2028"[0]:
			n += len(`\u2028`) / 2
		}
	}
	if !utf8.ValidString(text) {
		n += len(text) * (len(`\ufffd`) - 1)
	}
	return int64(n)
}
