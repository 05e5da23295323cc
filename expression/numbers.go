package expression

import (
	"math"
	"slices"
	"strconv"
)

// numberFunctions has the functions that work on numbers.
var numberFunctions = []declaration{
	{"abs(number): without its sign", "number", absolute},
	{"ceil(number): rounded up", "number", rounded(math.Ceil)},
	{"floor(number): rounded down", "number", rounded(math.Floor)},
	{"round(number): rounded to the nearest", "number", rounded(math.Round)},
	{"int(value): a number without its fraction, or the whole number in a text", "any", toInt},
	{"float(value): the number, or the one in a text", "any", toFloat},
	{"max(number, …): the largest; lists of numbers do, too", "any…", extreme(1)},
	{"min(number, …): the smallest; lists of numbers do, too", "any…", extreme(-1)},
	{"mean(number, …): the average; lists of numbers do, too", "any…", mean},
	{"median(number, …): the middle one; lists of numbers do, too", "any…", median},
	{"bitand(a, b): bits in both", "whole whole", bitwise(func(a, b int) int { return a & b })},
	{"bitor(a, b): bits in either", "whole whole", bitwise(func(a, b int) int { return a | b })},
	{"bitxor(a, b): bits in only one", "whole whole", bitwise(func(a, b int) int { return a ^ b })},
	{"bitnand(a, b): bits of a that are not in b", "whole whole", bitwise(func(a, b int) int { return a &^ b })},
	{"bitnot(a): all bits turned over", "whole", func(_ *frame, args []any) any { return ^args[0].(int) }},
	{"bitshl(a, n): bits moved left", "whole whole", shift(func(a int, n uint) int { return a << n })},
	{
		"bitshr(a, n): bits moved right, the sign kept",
		"whole whole", shift(func(a int, n uint) int { return a >> n }),
	},
	{
		"bitushr(a, n): bits moved right, zeros first",
		"whole whole", shift(func(a int, n uint) int { return int(uint(a) >> n) }),
	},
}

func absolute(_ *frame, args []any) any {
	if i, ok := args[0].(int); !ok {
		return math.Abs(args[0].(float64))
	} else if i < 0 {
		return negate(i)
	}
	return args[0]
}

func rounded(round func(float64) float64) operation {
	return func(_ *frame, args []any) any {
		v, _ := float(args[0])
		return round(v)
	}
}

func toInt(_ *frame, args []any) any {
	switch v := args[0].(type) {
	case int:
		return v
	case float64:
		if i, ok := whole(math.Trunc(v)); ok {
			return i
		}
		return tooLarge()
	case string:
		i, err := strconv.Atoi(v)
		if err != nil {
			fail("the text is not a whole number")
		}
		return i
	}
	return fail("int needs a number or text, not %s", describe(args[0]))
}

func toFloat(f *frame, args []any) any {
	if v, ok := float(args[0]); ok {
		return v
	}
	s, ok := args[0].(string)
	if !ok {
		fail("float needs a number or text, not %s", describe(args[0]))
	}
	f.read(len(s))
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		fail("the text is not a number")
	}
	return v
}

// numbersIn appends the numbers among the values and in the lists among them.
func (f *frame) numbersIn(found, values []any, depth int) []any {
	checkDepth(depth)
	f.makeItems(len(values))
	found = slices.Grow(found, len(values))
	for _, v := range values {
		switch v := v.(type) {
		case int, float64:
			found = append(found, v)
		case []any:
			found = f.numbersIn(found, v, depth+1)
		default:
			fail("there must be numbers only, not %s", describe(v))
		}
	}
	return found
}

// extreme returns the largest number for 1, the smallest for -1, nil for none.
func extreme(direction int) operation {
	return func(f *frame, args []any) any {
		var best any
		for _, n := range f.numbersIn(nil, args, 0) {
			if order, _ := f.compare(n, best); best == nil || order == direction {
				best = n
			}
		}
		return best
	}
}

func mean(f *frame, args []any) any {
	values := f.floatsIn(args)
	if len(values) == 0 {
		return 0.0
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	return finite(total / float64(len(values)))
}

func median(f *frame, args []any) any {
	values := f.floatsIn(args)
	if len(values) == 0 {
		return 0.0
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return finite((values[middle-1] + values[middle]) / 2)
}

func (f *frame) floatsIn(args []any) []float64 {
	numbers := f.numbersIn(nil, args, 0)
	values := make([]float64, len(numbers))
	for i, n := range numbers {
		values[i], _ = float(n)
	}
	f.spend(len(values) * (1 + logarithm(len(values))))
	return values
}

func bitwise(combine func(a, b int) int) operation {
	return func(_ *frame, args []any) any { return combine(args[0].(int), args[1].(int)) }
}

func shift(move func(a int, n uint) int) operation {
	return func(_ *frame, args []any) any {
		n := args[1].(int)
		if n < 0 {
			fail("bits can't be moved by a negative number")
		}
		return move(args[0].(int), uint(n))
	}
}
