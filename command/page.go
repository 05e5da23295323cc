package command

import (
	"cmp"
	"slices"
	"strings"
)

// A Page is part of a list. Over HTTP it is a plain array, with the way to the
// next page in a Link header.
type Page[T any] struct {
	Items []T
	Next  string // value of the parameter after for the next page; "" at the end
}

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

// PageOf returns a page of a list in the order of names: those with search in
// their name, in any case, that come after the given name; all of them if limit
// is 0. It reorders the list.
func PageOf[T any](list []T, name func(T) string, search, after string, limit int) Page[T] {
	search = strings.ToLower(search)
	list = slices.DeleteFunc(list, func(item T) bool {
		return after != "" && name(item) <= after || !strings.Contains(strings.ToLower(name(item)), search)
	})
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	if limit == 0 || len(list) <= limit {
		return Page[T]{Items: list}
	}
	return Page[T]{list[:limit], name(list[limit-1])}
}
