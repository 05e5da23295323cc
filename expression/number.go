package expression

import "math"

func tooLarge() any { return fail("a number becomes too large") }

// finite rejects floats that JSON has no number for.
func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return tooLarge()
	}
	return v
}

// both returns two values as a type, if both are of that type.
func both[T any](a, b any) (x, y T, ok bool) {
	if x, ok = a.(T); ok {
		y, ok = b.(T)
	}
	return x, y, ok
}

// floats returns two values as floats, if both are numbers.
func floats(a, b any) (x, y float64, ok bool) {
	if x, ok = float(a); ok {
		y, ok = float(b)
	}
	return x, y, ok
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// whole returns a number without a fraction as an int.
func whole(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int(v), true
		}
	}
	return 0, false
}
