package expression

import (
	"math"
	"math/bits"
	"time"

	"sluice/value"
)

func add(f *frame, a, b any) (any, bool) {
	if x, y, ok := both[int](a, b); ok {
		return sumOf(x, y), true
	}
	if x, y, ok := floats(a, b); ok {
		return finite(x + y), true
	}
	if x, y, ok := both[string](a, b); ok {
		f.makeText(len(x) + len(y))
		return x + y, true
	}
	if t, ok := b.(time.Time); ok {
		a, b = t, a
	}
	by, ok := b.(time.Duration)
	switch x := a.(type) {
	case time.Time:
		if ok {
			return sensible(x.Add(by)), true
		}
	case time.Duration:
		if ok {
			return sumOf(x, by), true
		}
	}
	return nil, false
}

func subtract(_ *frame, a, b any) (any, bool) {
	if x, y, ok := both[int](a, b); ok {
		return differenceOf(x, y), true
	}
	if x, y, ok := floats(a, b); ok {
		return finite(x - y), true
	}
	if x, y, ok := both[time.Time](a, b); ok {
		return x.Sub(y), true
	}
	if x, y, ok := both[time.Duration](a, b); ok {
		return differenceOf(x, y), true
	}
	t, isTime := a.(time.Time)
	by, isDuration := b.(time.Duration)
	if isTime && isDuration {
		return sensible(t.Add(-by)), true
	}
	return nil, false
}

func sumOf[N int | time.Duration](x, y N) any {
	if sum := x + y; (sum > x) == (y > 0) {
		return sum
	}
	return tooLarge()
}

func differenceOf[N int | time.Duration](x, y N) any {
	if difference := x - y; (difference < x) == (y > 0) {
		return difference
	}
	return tooLarge()
}

// sensible rejects years that don't have four digits.
func sensible(t time.Time) any {
	if y := t.Year(); y < 0 || y > 9999 {
		fail("a time lies outside of the years 0 to 9999")
	}
	return t
}

func multiply(_ *frame, a, b any) (any, bool) {
	if x, y, ok := both[int](a, b); ok {
		high, low := bits.Mul64(magnitude(x), magnitude(y))
		negative := (x < 0) != (y < 0)
		if high != 0 || low > math.MaxInt64 && (!negative || low > 1<<63) {
			tooLarge()
		}
		return x * y, true
	}
	x, y, ok := floats(a, b)
	return finite(x * y), ok
}

// magnitude is the absolute value, which does not fit into an int for the smallest int.
func magnitude(x int) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func divide(_ *frame, a, b any) (any, bool) {
	x, y, ok := floats(a, b)
	switch {
	case !ok:
		return nil, false
	case y == 0:
		fail("it divides by zero")
	}
	return finite(x / y), true
}

func modulo(_ *frame, a, b any) (any, bool) {
	x, y, ok := both[int](a, b)
	switch {
	case !ok:
		return nil, false
	case y == 0:
		fail("it divides by zero")
	case y == -1: // the smallest int would overflow
		return 0, true
	}
	return x % y, true
}

func power(_ *frame, a, b any) (any, bool) {
	x, y, ok := floats(a, b)
	return finite(math.Pow(x, y)), ok
}

// sequence returns the whole numbers from a to b.
func sequence(f *frame, a, b any) (any, bool) {
	x, okFirst := whole(a)
	y, okLast := whole(b)
	switch {
	case !okFirst || !okLast:
		return nil, false
	case y < x:
		return []any{}, true
	case uint64(y)-uint64(x) >= value.MaxItems:
		f.makeItems(value.MaxItems + 1)
	}
	f.makeItems(y - x + 1)
	list := make([]any, y-x+1)
	for i := range list {
		list[i] = x + i
	}
	return list, true
}

func negate(v any) any {
	switch v := v.(type) {
	case int:
		return differenceOf(0, v)
	case float64:
		return -v
	case time.Duration:
		return -v
	}
	return fail("- needs a number, not %s", describe(v))
}

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
