package value

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Equal reports whether two values are the same as JSON: 1 and 1.0 are.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Equal)
	}
	x, isNumber := digitsOf(a)
	y, bothNumbers := digitsOf(b)
	if isNumber || bothNumbers {
		return isNumber && bothNumbers && x == y
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// digitsOf returns a number in one form.
func digitsOf(v any) (string, bool) {
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
