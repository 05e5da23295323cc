package portal_test

import (
	"html"
	"strings"
	"testing"
)

// TestTheRulesForNames: before and after a mistake people read the same rule for a
// name.
func TestTheRulesForNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	const wide, narrow, first = "letters, digits, dots, _ and -", "lower-case letters, digits, dots, _ and -", ", beginning with a letter or digit"
	for path, rule := range map[string]string{
		"/webhooks/new":  "1 to 200 letters, digits, _ and -, in groups joined by dots",
		"/start":         "1 to 200 letters, digits, _ and -, in groups joined by dots",
		"/pipelines/new": "1 to 128 " + narrow + first,
		"/users/new":     "1 to 128 letters, digits, dots, _, @, + and -" + first,
		"/roles/new":     "1 to 63 " + narrow + first,
		"/clients/new":   "1 to 128 " + wide + first,
		"/secrets/new":   "1 to 128 " + wide + first,
	} {
		shown := v.get(path).wants(t, 200)
		refused := v.post(path, "eventKey", "no name", "name", "no name", "username", "no name", "role", "no name", "clientId", "no name",
			"password", "a long password", "permissions", "read", "value", "x", "source", "pipeline: [log]")
		const once, twice = 1, 2 // with the mistake
		if strings.Count(html.UnescapeString(shown.body), rule) < once || strings.Count(html.UnescapeString(refused.body), rule) < twice {
			t.Errorf("%s: the rule “%s” is not there before and after a mistake (%d)", path, rule, refused.status)
		}
	}
}
