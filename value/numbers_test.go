package value_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"sluice/value"
)

func TestNumbersStayExact(t *testing.T) {
	tests := []struct {
		text string
		want any
	}{
		{`null`, nil},
		{`true`, true},
		{`"é"`, "é"},
		{`12`, 12},
		{`-9223372036854775808`, -9223372036854775808},
		{`12.5`, 12.5},
		{`3.141592653589793`, 3.141592653589793},
		{`0.1`, 0.1},
		{`1e3`, 1000.0},
		{`0.0`, 0.0},
		{`100.00`, 100.0},
		{`9223372036854775808`, float64(1 << 63)},
		{`9223372036854775809`, json.Number("9223372036854775809")},
		{`0.12345678901234567890`, json.Number("0.12345678901234567890")},
		{`1e999999999`, json.Number("1e999999999")},
		{`1e-999999999`, json.Number("1e-999999999")},
		{`[1, {"a": 2.5}]`, []any{1, map[string]any{"a": 2.5}}},
	}
	for _, test := range tests {
		got, err := value.Decode([]byte(test.text))
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s is %#v (%v), want %#v", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{``, `{`, `1 2`, `nul`, `{"a":1}}`} {
		if got, err := value.Decode([]byte(text)); err == nil {
			t.Errorf("%q is taken for %#v", text, got)
		}
	}
}
