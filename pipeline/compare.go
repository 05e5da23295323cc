package pipeline

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// same tells whether two values are the same as JSON.
func same(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	x, isNumber := number(a)
	y, bothNumbers := number(b)
	if isNumber || bothNumbers {
		return isNumber && bothNumbers && x == y
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// within tells whether a value is what is wanted, where objects may have more
// fields.
func within(want, have any) bool {
	fields, ok := want.(map[string]any)
	if !ok {
		return same(want, have)
	}
	having, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for name, field := range fields {
		other, has := having[name]
		if !has || !within(field, other) {
			return false
		}
	}
	return true
}

// number gives a number in one form, so that 1 and 1.0 are the same.
func number(v any) (string, bool) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.Itoa(int(v)), true
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case json.Number:
		return string(v), true
	}
	return "", false
}

// brief gives a value as JSON for a message.
func brief(v any) string {
	const longest = 300
	text := string(appendJSON(nil, v, longest))
	if len(text) > longest {
		return text[:longest] + "…"
	}
	return text
}

func sortedKeys(fields map[string]any) []string { return slices.Sorted(maps.Keys(fields)) }
