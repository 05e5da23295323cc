package command

// A Page is part of a list. Over HTTP it is a plain array, with the way to the
// next page in a Link header.
type Page[T any] struct {
	Items []T
	Next  string // value of the parameter after for the next page; "" at the end
}

// Paged is any Page.
type Paged interface {
	// Page gives the items and the value of after for the next page.
	Page() (items any, next string)
}

// Page implements Paged.
func (p Page[T]) Page() (items any, next string) {
	if p.Items == nil {
		return []T{}, p.Next
	}
	return p.Items, p.Next
}
