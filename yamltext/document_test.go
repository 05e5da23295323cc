package yamltext

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func TestOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		root           string // its value; "-" if there is none
		second, broken bool
	}{
		"":              {root: "-"},
		"# nothing\n":   {root: "-"},
		"a\n":           {root: "a"},
		"---\na\n...\n": {root: "a"},
		"a\n---\nb\n":   {root: "a", second: true},
		"[a\n":          {root: "-", broken: true},
		"a\n---\n[b\n":  {root: "-", broken: true},
	} {
		root, second, err := One(text)
		got := "-"
		if root != nil {
			got = root.Value
		}
		if got != want.root || (second != nil) != want.second || (err != nil) != want.broken {
			t.Errorf("%q: %q, %v, %v", text, got, second, err)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"1": 1, "-0.5": -0.5, "0x1F": 31, "1_000": 1000, "+7": 7, "18446744073709551615": json.Number("18446744073709551615"),
		".inf": nil, "-.inf": nil, ".nan": nil,
	} {
		root, _, err := One(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Number(root)
		if !reflect.DeepEqual(got, want) || errors.Is(err, ErrNotFinite) != (want == nil) {
			t.Errorf("%s: %#v, %v", text, got, err)
		}
	}
}
