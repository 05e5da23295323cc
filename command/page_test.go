package command_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/command"
)

func TestPageOf(t *testing.T) {
	list := []string{"b", "Ab", "c", "a", "ac"}
	for _, test := range []struct {
		search, after string
		limit         int
		want          string
		next          string
	}{
		{"", "", 0, "Ab a ac b c", ""},
		{"", "", 5, "Ab a ac b c", ""},
		{"", "", 2, "Ab a", "a"},
		{"", "a", 2, "ac b", "b"},
		{"", "b", 2, "c", ""},
		{"", "c", 2, "", ""},
		{"aB", "", 0, "Ab", ""},
		{"a", "", 2, "Ab a", "a"},
		{"a", "a", 2, "ac", ""},
		{"x", "", 2, "", ""},
	} {
		page := command.PageOf(slices.Clone(list), strings.Clone, strings.Clone, command.Filter{Search: test.search, Limit: test.limit, After: test.after})
		if got := strings.Join(page.Items, " "); got != test.want || page.Next != test.next {
			t.Errorf("%+v: got %s, next %s", test, got, page.Next)
		}
	}
}
