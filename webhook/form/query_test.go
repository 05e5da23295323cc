package form

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// FuzzQuery: a query is read as the standard library reads it, or refused.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "token=a", "a=1&a=2&b", "&&=&", "a=%41+b", "a=%zz", "a;b=1", "=x", "%74oken=a", "a=b=c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		want, wantErr := url.ParseQuery(raw)
		q, err := ParseQuery(nil, raw)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%q: got %v, want %v", raw, err, wantErr)
		}
		if err != nil {
			return
		}
		if got := q.Without(); len(got)+len(want) > 0 && !reflect.DeepEqual(got, map[string][]string(want)) {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
		for name, values := range want {
			if got := q.all(name); !reflect.DeepEqual(got, values) || q.First(name) != values[0] {
				t.Errorf("%q: %q is %q, want %q", raw, name, got, values)
			}
		}
	})
}

func TestTooManyParametersAreRefused(t *testing.T) {
	if _, err := ParseQuery(nil, strings.Repeat("a&", maxParameters)); err != nil {
		t.Error(err)
	}
	if _, err := ParseQuery(nil, strings.Repeat("a&", maxParameters+1)); err == nil {
		t.Error("one more is accepted")
	}
}
