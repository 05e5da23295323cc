package expression

import (
	"math"
	"math/bits"
	"time"

	"sluice/value"
)

var errTooLarge = failure("a number becomes too large")

// finite rejects floats that JSON has no number for.
func finite(v float64) (any, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, errTooLarge
	}
	return v, nil
}

// floats returns both values as floats, if both are numbers.
func floats(a, b any) (x, y float64, ok bool) {
	x, ok = float(a)
	if !ok {
		return 0, 0, false
	}
	y, ok = float(b)
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

// ints returns both values as ints, if both are.
func ints(a, b any) (x, y int, ok bool) {
	x, ok = a.(int)
	if !ok {
		return 0, 0, false
	}
	y, ok = b.(int)
	return x, y, ok
}

func add(f *frame, a, b any) (any, error) {
	if x, y, ok := ints(a, b); ok {
		if sum := x + y; (sum > x) == (y > 0) {
			return sum, nil
		}
		return nil, errTooLarge
	}
	if x, y, ok := floats(a, b); ok {
		return finite(x + y)
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			if err := f.makeText(len(x) + len(y)); err != nil {
				return nil, err
			}
			return x + y, nil
		}
	case time.Time:
		if y, ok := b.(time.Duration); ok {
			return later(x, y)
		}
	case time.Duration:
		switch y := b.(type) {
		case time.Time:
			return later(y, x)
		case time.Duration:
			if sum := x + y; (sum > x) == (y > 0) {
				return sum, nil
			}
			return nil, errTooLarge
		}
	}
	return nil, errOperands
}

func subtract(_ *frame, a, b any) (any, error) {
	if x, y, ok := ints(a, b); ok {
		if difference := x - y; (difference < x) == (y > 0) {
			return difference, nil
		}
		return nil, errTooLarge
	}
	if x, y, ok := floats(a, b); ok {
		return finite(x - y)
	}
	switch x := a.(type) {
	case time.Time:
		switch y := b.(type) {
		case time.Time:
			return x.Sub(y), nil
		case time.Duration:
			return later(x, -y)
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			if difference := x - y; (difference < x) == (y > 0) {
				return difference, nil
			}
			return nil, errTooLarge
		}
	}
	return nil, errOperands
}

func multiply(_ *frame, a, b any) (any, error) {
	if x, y, ok := ints(a, b); ok {
		high, low := bits.Mul64(magnitude(x), magnitude(y))
		negative := (x < 0) != (y < 0)
		if high != 0 || low > math.MaxInt64 && (!negative || low > 1<<63) {
			return nil, errTooLarge
		}
		return x * y, nil
	}
	if x, y, ok := floats(a, b); ok {
		return finite(x * y)
	}
	return nil, errOperands
}

// magnitude is the absolute value, which does not fit into an int for the smallest int.
func magnitude(x int) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func divide(_ *frame, a, b any) (any, error) {
	x, y, ok := floats(a, b)
	if !ok {
		return nil, errOperands
	}
	if y == 0 {
		return nil, fail("it divides by zero")
	}
	return finite(x / y)
}

func modulo(_ *frame, a, b any) (any, error) {
	x, y, ok := ints(a, b)
	switch {
	case !ok:
		return nil, errOperands
	case y == 0:
		return nil, fail("it divides by zero")
	case y == -1:
		return 0, nil
	}
	return x % y, nil
}

func power(_ *frame, a, b any) (any, error) {
	x, y, ok := floats(a, b)
	if !ok {
		return nil, errOperands
	}
	return finite(math.Pow(x, y))
}

// sequence returns the whole numbers from a to b.
func sequence(f *frame, a, b any) (any, error) {
	x, okFirst := whole(a)
	y, okLast := whole(b)
	if !okFirst || !okLast {
		return nil, errOperands
	}
	if y < x {
		return []any{}, nil
	}
	if uint64(y)-uint64(x) >= value.MaxItems {
		return nil, f.makeItems(value.MaxItems + 1)
	}
	if err := f.makeItems(y - x + 1); err != nil {
		return nil, err
	}
	list := make([]any, y-x+1)
	for i := range list {
		list[i] = x + i
	}
	return list, nil
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

func negate(v any) (any, error) {
	switch v := v.(type) {
	case int:
		if v == math.MinInt {
			return nil, errTooLarge
		}
		return -v, nil
	case float64:
		return -v, nil
	case time.Duration:
		return -v, nil
	}
	return nil, fail("- needs a number, not %s", describe(v))
}
