package expression

import "slices"

func sortList(f *frame, args []any) (any, error) {
	items, order := args[0].([]any), any("asc")
	if len(args) == 2 {
		order = args[1]
	}
	if err := f.makeItems(len(items)); err != nil {
		return nil, err
	}
	compare, failed, err := f.ordering(order)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, compare)
	return sorted, failed()
}

func sortBy(l *loop) (any, error) {
	order := l.extra
	if !l.hasExtra {
		order = "asc"
	}
	if err := l.makeItems(len(l.items)); err != nil {
		return nil, err
	}
	type pair struct{ item, key any }
	pairs := make([]pair, len(l.items))
	for i, item := range l.items {
		key, err := l.value(i)
		if err != nil {
			return nil, err
		}
		pairs[i] = pair{item, key}
	}
	compare, failed, err := l.ordering(order)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return compare(a.key, b.key) })
	if err := l.makeItems(len(pairs)); err != nil {
		return nil, err
	}
	list := make([]any, len(pairs))
	for i := range pairs {
		list[i] = pairs[i].item
	}
	return list, failed()
}

// ordering returns a comparison for sorting. Sorting can't be stopped, so after the first
// failure all items count as equal, and failed returns the failure.
func (f *frame) ordering(order any) (compare func(a, b any) int, failed func() error, err error) {
	if order != "asc" && order != "desc" {
		return nil, nil, fail(`the order is "asc" or "desc"`)
	}
	var first error
	return func(a, b any) int {
			if first != nil {
				return 0
			}
			result, err := f.compare(a, b)
			if err == errOperands { //nolint:errorlint // ours, never wrapped
				err = fail("%s and %s have no order", describe(a), describe(b))
			}
			if err == nil {
				err = f.spend(1)
			}
			first = err
			if order == "desc" {
				return -result
			}
			return result
		}, func() error {
			return first
		}, nil
}
