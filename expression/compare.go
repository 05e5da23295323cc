package expression

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

func equal(f *frame, a, b any) (any, bool)   { return f.equal(a, b, 0), true }
func unequal(f *frame, a, b any) (any, bool) { return !f.equal(a, b, 0), true }

// equal reports whether two values are the same. Numbers are compared by value; values of
// different types differ.
func (f *frame) equal(a, b any, depth int) bool {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok && len(x) == len(y) {
			f.read(len(x))
			return x == y
		}
	case int, float64:
		if x, y, ok := both[int](a, b); ok {
			return x == y
		}
		x, y, ok := floats(a, b)
		return ok && x == y
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	case []any:
		if y, ok := b.([]any); ok {
			return f.equalLists(x, y, depth)
		}
	case map[string]any:
		if y, ok := b.(map[string]any); ok && len(x) == len(y) {
			return f.equalObjects(x, y, depth)
		}
	case nil, bool, time.Duration, json.Number:
		return a == b
	}
	return false
}

func (f *frame) equalLists(a, b []any, depth int) bool {
	checkDepth(depth)
	return slices.EqualFunc(a, b, func(x, y any) bool {
		f.spend(1)
		return f.equal(x, y, depth+1)
	})
}

func (f *frame) equalObjects(a, b map[string]any, depth int) bool {
	checkDepth(depth)
	for key, x := range a {
		f.spend(1 + len(key)/bytesPerStep)
		if y, ok := b[key]; !ok || !f.equal(x, y, depth+1) {
			return false
		}
	}
	return true
}

// compare orders two numbers, texts, times or durations.
func (f *frame) compare(a, b any) (order int, ok bool) {
	if x, y, ok := both[int](a, b); ok {
		return cmp.Compare(x, y), true
	}
	if x, y, ok := floats(a, b); ok {
		return cmp.Compare(x, y), true
	}
	if x, y, ok := both[string](a, b); ok {
		f.read(min(len(x), len(y)))
		return strings.Compare(x, y), true
	}
	if x, y, ok := both[time.Time](a, b); ok {
		return x.Compare(y), true
	}
	x, y, ok := both[time.Duration](a, b)
	return cmp.Compare(x, y), ok
}

// ordered makes an operator from a test on the order of two values.
func ordered(holds func(order int) bool) operate {
	return func(f *frame, a, b any) (any, bool) {
		order, ok := f.compare(a, b)
		return holds(order), ok
	}
}

// isIn reports whether a list has an item or an object a key.
func isIn(f *frame, a, b any) (any, bool) {
	switch b := b.(type) {
	case nil:
		return false, true
	case []any:
		for _, item := range b {
			f.spend(1)
			if f.equal(a, item, 0) {
				return true, true
			}
		}
		return false, true
	case map[string]any:
		key, ok := a.(string)
		f.read(len(key))
		_, found := b[key]
		return found, ok
	}
	return nil, false
}

// testTexts makes an operator from a test on two texts. With null it is false.
func testTexts(test func(s, part string) bool) operate {
	return func(f *frame, a, b any) (any, bool) {
		if a == nil || b == nil {
			return false, true
		}
		x, y, ok := both[string](a, b)
		f.read(len(x) + len(y))
		return test(x, y), ok
	}
}

// ordering returns a comparison for sorting.
func (f *frame) ordering(order any) func(a, b any) int {
	if order != "asc" && order != "desc" {
		fail(`the order is "asc" or "desc"`)
	}
	return func(a, b any) int {
		result, ok := f.compare(a, b)
		if !ok {
			fail("%s and %s have no order", describe(a), describe(b))
		}
		f.spend(1)
		if order == "desc" {
			return -result
		}
		return result
	}
}
