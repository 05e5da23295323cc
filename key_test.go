package sluice_test

import (
	"testing"

	"sluice"
)

func TestKeyMatches(t *testing.T) {
	tests := []struct {
		pattern, key string
		want         bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a", false},
		{"a.b", "a.b.c", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"*.b", "a.b", true},
		{"*", "a", true},
		{"*", "a.b", false},
		{"a.#", "a", true},
		{"a.#", "a.b", true},
		{"a.#", "a.b.c", true},
		{"a.#", "ab", false},
		{"a.*.#", "a", false},
		{"a.*.#", "a.b", true},
		{"#", "a.b.c", true},
	}
	for _, test := range tests {
		if got := sluice.KeyMatches(test.pattern, test.key); got != test.want {
			t.Errorf("%s fits %s: %v, want %v", test.pattern, test.key, got, test.want)
		}
	}
}

func TestValidPattern(t *testing.T) {
	for pattern, want := range map[string]bool{
		"a": true, "a.b-c_D.1": true, "*": true, "#": true, "a.*.b": true, "a.#": true, "*.#": true,
		"": false, ".": false, "a.": false, ".a": false, "a..b": false, "#.a": false, "a.#.b": false, "a*": false, "a.>": false, "a b": false, "a.##": false,
	} {
		if got := sluice.ValidPattern(pattern); got != want {
			t.Errorf("%q is a pattern: %v, want %v", pattern, got, want)
		}
	}
}
