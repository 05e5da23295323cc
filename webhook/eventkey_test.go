package webhook

import (
	"strings"
	"testing"

	"sluice"
)

// FuzzCheckEventKey: exactly the keys of the rule are taken. Each of them makes
// a subject on which the engine can publish: no empty group, no wildcard.
func FuzzCheckEventKey(f *testing.F) {
	for _, key := range []string{
		"webhook.lead.created", "webhook", "Lead", "a-b_c.D9", "", ".", "a..b", ".a", "a.", "*", "a.>", "a b", "ü", "a\n", "\x00",
		strings.Repeat("k", 200), strings.Repeat("k", 201), strings.Repeat("a.", 100) + "b", "\xff",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		err := settings()[0].check(key)
		if (err == nil) != followsRule(key) {
			t.Fatalf("%q was answered %v", key, err)
		}
		if err != nil {
			if e := sluice.AsError(err); e.Kind != sluice.Invalid || e.Parameter != "eventKey" {
				t.Fatalf("%q was answered %+v", key, e)
			}
			return
		}
		for group := range strings.SplitSeq(sluice.EventPrefix+key, ".") {
			if group == "" || strings.ContainsAny(group, "*> \t\r\n\x00") {
				t.Fatalf("%q makes a subject with the group %q", key, group)
			}
		}
		byConvention := key == strings.ToLower(key) && strings.HasPrefix(key, "webhook.")
		if warnings := unconventional(key); byConvention != (len(warnings) == 0) {
			t.Fatalf("%q has the warnings %q", key, warnings)
		}
	})
}

// followsRule says the rule the plain way.
func followsRule(key string) bool {
	if len(key) == 0 || len(key) > 200 {
		return false
	}
	for group := range strings.SplitSeq(key, ".") {
		if group == "" {
			return false
		}
		for _, c := range []byte(group) {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
			if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
				return false
			}
		}
	}
	return true
}
