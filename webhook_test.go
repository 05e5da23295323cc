package sluice_test

import (
	"testing"

	"sluice"
)

func TestIsToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"01234567-89ab-cdef-0123-456789abcdef":          true,
		"01234567-89AB-CDEF-0123-456789abcdef":          true,
		"01234567-89ab-cdef-0123-456789abcdeg":          false,
		"01234567089ab-cdef-0123-456789abcdef":          false,
		"0123456--89ab-cdef-0123-456789abcdef":          false,
		"0123456789abcdef0123456789abcdef":              false,
		"{01234567-89ab-cdef-0123-456789abcdef}":        false,
		"urn:uuid:01234567-89ab-cdef-0123-456789abcdef": false,
		"01234567-89ab-cdef-0123-456789abcde":           false,
		"":                                              false,
	} {
		if got := sluice.IsToken(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestIsHeaderName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"x-api-key": true, "X_1.a~": true, "": false, "a b": false, "a:b": false, "ä": false, "a\n": false} {
		if got := sluice.IsHeaderName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
