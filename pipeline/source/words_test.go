package source_test

import (
	"slices"
	"strings"
	"testing"

	"sluice"
)

// TestWords: what the vocabulary says of sources is what is taken in them.
func TestWords(t *testing.T) {
	var names []string
	for _, w := range sluice.SourceWords().Sections {
		names = append(names, w.Name)
	}
	slices.Sort(names)
	_, err := parse("xyzzyxyzzy: 1\npipeline: [log]\n")
	if want := "there are " + strings.Join(names, ", ") + "."; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, w := range sluice.SourceWords().Parameters {
		if _, err := parse("pipeline:\n  - http.request: {url: x, " + w.Name + ": x}\n"); err != nil && strings.Contains(err.Error(), "no parameter") {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}
