package sluice

// A List is a page of what a command has found, with the way to the next one.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"Value of the parameter after for the next page; missing at the end."`
}
