package command

import (
	"cmp"
	"slices"
	"strings"

	"sluice"
)

// A Page is part of a list. Over HTTP it is a plain array, with the way to the
// next page in a Link header.
type Page[T any] sluice.List[T]

// Paged is any Page.
type Paged interface {
	// Page returns the items and the value of after for the next page.
	Page() (items any, next string)
}

// Page implements Paged.
func (p Page[T]) Page() (items any, next string) {
	if p.Items == nil {
		return []T{}, p.Next
	}
	return p.Items, p.Next
}

// A Filter is the part of a list that a caller wants. Commands embed it in their parameters. Its
// tags name the things of the list, and the field they are sorted by.
type Filter struct {
	Search string `json:"search" doc:"List only {things} whose {by} contains this."`
	Limit  int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After  string `json:"after" doc:"List only {things} whose {by} comes after this one."`
}

// PageOf returns the page of a list that a filter selects, in the order of names: those with
// the searched text in their name, in any case, that come after the given name; all of them
// without a limit. It reorders the list, and shows only what is on the page.
func PageOf[T, V any](list []T, name func(T) string, show func(T) V, f Filter) (page Page[V]) {
	search := strings.ToLower(f.Search)
	list = slices.DeleteFunc(list, func(item T) bool {
		return f.After != "" && name(item) <= f.After || !strings.Contains(strings.ToLower(name(item)), search)
	})
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
		page.Next = name(list[f.Limit-1])
	}
	for _, item := range list {
		page.Items = append(page.Items, show(item))
	}
	return page
}
