package oidc

import (
	"slices"
	"strings"

	"sluice"
)

// scopes are those that have an effect: openid asks for an ID token, profile for the name
// in it.
var scopes = []string{"openid", "profile"}

// grantScope returns the granted part of the scopes that are asked for. It leaves out
// unknown ones, as OpenID Connect requires; the answer says which were granted.
func grantScope(asked string) (string, error) {
	if strings.ContainsFunc(asked, notScope) {
		return "", invalidScope("The scope has characters that no scope has.")
	}
	var granted []string
	for s := range strings.FieldsSeq(asked) {
		if slices.Contains(scopes, s) && !slices.Contains(granted, s) {
			granted = append(granted, s)
		}
	}
	return strings.Join(granted, " "), nil
}

// narrowScope returns the scope of a refreshed token: the scope that was granted before,
// or the part of it that is asked for.
func narrowScope(before, asked string) (string, error) {
	if asked == "" {
		return before, nil
	}
	for s := range strings.FieldsSeq(asked) {
		if !hasScope(before, s) {
			return "", invalidScope("The scope is wider than the one that was granted.")
		}
	}
	return grantScope(asked)
}

// withoutScope returns a scope without one of its words.
func withoutScope(scope, word string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), func(s string) bool { return s == word }), " ")
}

func hasScope(scope, word string) bool {
	return slices.Contains(strings.Fields(scope), word)
}

// notScope reports whether RFC 6749, 3.3 forbids a character.
func notScope(r rune) bool {
	return r < ' ' || r > '~' || r == '"' || r == '\\'
}

func invalidScope(message string) *sluice.Error {
	return sluice.Errorf(sluice.CodeInvalidScope, "%s", message)
}
