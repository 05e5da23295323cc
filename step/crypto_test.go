package step_test

import (
	"strings"
	"testing"

	"sluice"
	"sluice/expression"
	"sluice/step"
	"sluice/value"
)

// TestHashes: the values are those of openssl and of RFC 4231.
func TestHashes(t *testing.T) {
	const (
		abc256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
		jefe   = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
		text   = "what do ya want for nothing?"
	)
	tests := map[string]struct {
		command string
		args    args
		call    []any // the same as a function
		want    string
	}{
		"sha256":      {"crypto.hash", args{"input": "abc"}, []any{"abc"}, abc256},
		"sha1":        {"crypto.hash", args{"input": "abc", "algorithm": "sha1"}, []any{"abc", "sha1"}, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		"in base64":   {"crypto.hash", args{"input": "abc", "encoding": "base64"}, []any{"abc", nil, "base64"}, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
		"sha512":      {"crypto.hash", args{"input": "", "algorithm": "sha512", "encoding": "base64"}, []any{"", "sha512", "base64"}, "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="},
		"an object":   {"crypto.hash", args{"input": object{"b": 1, "a": list{}}}, []any{object{"a": list{}, "b": 1}}, "1c8f8816506a8ccbc55140d8a7bb70214a8942c7030fc0fc2914cec675cd1c15"},
		"hmac":        {"crypto.hmac", args{"input": text, "key": "Jefe"}, []any{text, "Jefe"}, jefe},
		"hmac, named": {"crypto.hmac", args{"input": text, "key": "Jefe", "algorithm": "sha256", "encoding": "hex"}, []any{text, "Jefe", "sha256", "hex"}, jefe},
		"hmac, sha1":  {"crypto.hmac", args{"input": text, "key": "Jefe", "algorithm": "sha1", "encoding": "base64"}, []any{text, "Jefe", "sha1", "base64"}, "7/zfauXrL6LSdBbV8YTfnCWafHk="},
	}
	set, functions := newSet(step.Options{}), step.Functions()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := call(t.Context(), set, test.command, test.args); err != nil || got != test.want {
				t.Errorf("the command gives %v, %v", got, err)
			}
			if got, err := functions[test.command](test.call...); err != nil || got != test.want {
				t.Errorf("the function gives %v, %v", got, err)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	equal := step.Functions()["crypto.equal"]
	for _, test := range []struct {
		a, b any
		want bool
	}{{"a", "a", true}, {"", "", true}, {"a", "b", false}, {"a", "aa", false}, {nil, "a", false}, {"a", nil, false}, {nil, nil, false}} {
		if got, err := equal(test.a, test.b); err != nil || got != test.want {
			t.Errorf("%v and %v: %v, %v", test.a, test.b, got, err)
		}
	}
	_, err := equal(1, 1)
	refuses(t, err, sluice.Invalid, "parameter-invalid", "must be text")
}

func TestBadHashesAreRefused(t *testing.T) {
	functions := step.Functions()
	for _, test := range []struct {
		function string
		args     []any
		says     string
	}{
		{"crypto.hash", []any{"a", "md5"}, "algorithm must be sha256, sha1 or sha512"},
		{"crypto.hash", []any{"a", 1}, "algorithm must be text"},
		{"crypto.hash", []any{"a", "sha1", "base32"}, "encoding must be hex or base64"},
		{"crypto.hash", []any{"a", "sha1", true}, "encoding must be text"},
		{"crypto.hmac", []any{"a", nil}, "key must be text"},
		{"crypto.hmac", []any{"a", ""}, "key must not be empty"},
	} {
		_, err := functions[test.function](test.args...)
		refuses(t, err, sluice.Invalid, "parameter-invalid", test.says)
	}
	set := newSet(step.Options{})
	_, err := call(t.Context(), set, "crypto.hmac", args{"input": "a"})
	refuses(t, err, sluice.Invalid, "parameter-missing", "key")
	_, err = call(t.Context(), set, "crypto.hash", args{"input": "a", "algorithm": "md5"})
	refuses(t, err, sluice.Invalid, "parameter-invalid", "sha256")
}

// TestHashesAreBounded: an expression can't hash for minutes.
func TestHashesAreBounded(t *testing.T) {
	hash, err := expression.NewLanguage(step.Functions()).Compile(`#{map(1..4000, crypto.hash(body))}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = hash.Eval(&expression.Scope{Body: strings.Repeat("x", value.MaxSize/2)})
	refuses(t, err, sluice.Invalid, "expression-failed", "too many steps")
}
