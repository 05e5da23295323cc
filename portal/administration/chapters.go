package administration

import (
	_ "embed"
	"maps"
	"slices"
	"sync"

	"sluice/portal/page"
)

// A chapter is the commands with one prefix, in the list of commands and in the API
// reference.
type chapter struct{ Name, Title, Task string }

//go:embed chapters.yaml
var chapterTable string

// chapters are those with a title, the most needed first.
var chapters = sync.OnceValue(func() (all []chapter) {
	page.Decode(chapterTable, &all)
	return all
})

// inOrder returns the chapters with the names of the keys, those with a title first.
func inOrder[T any](of map[string]T) (found []chapter) {
	for _, c := range chapters() {
		if _, ok := of[c.Name]; ok {
			found = append(found, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !slices.ContainsFunc(chapters(), func(c chapter) bool { return c.Name == name }) {
			found = append(found, chapter{name, name, "Other"})
		}
	}
	return found
}
