package value_test

import (
	"testing"

	"sluice/value"
)

func TestWithout(t *testing.T) {
	for _, c := range [][2]string{
		{`{"a":1,"hidden":"x","b":[{"hidden":2}]}`, `{"a":1,"b":[{"hidden":2}]}`},
		{`{"hidden":{"a":","},"b":"}"}`, `{"b":"}"}`},
		{`{"a":1,"hidden":2}`, `{"a":1}`},
		{`{"hidden":2}`, `{}`},
		{` { "a" : 1 , "hidden" : null , "b" : 2 } `, `{"a" : 1,"b" : 2}`},
		{`{}`, `{}`}, {`[1]`, `[1]`}, {``, ``}, {`{"hidden"`, `{"hidden"`}, {`{"hidden":`, `{"hidden":`},
		{`{"a":1,"also":2,"hidden":3}`, `{"a":1}`},
	} {
		if got := string(value.Without([]byte(c[0]), "hidden", "also")); got != c[1] {
			t.Errorf("%s is %s, want %s", c[0], got, c[1])
		}
	}
}
