package expression

import (
	"math"
	"slices"
	"strconv"
)

// numberFunctions has the functions that work on numbers.
var numberFunctions = map[string]function{
	"abs":   {usage: "abs(number): without its sign", kinds: oneNumber, run: absolute},
	"ceil":  {usage: "ceil(number): rounded up", kinds: oneNumber, run: rounded(math.Ceil)},
	"floor": {usage: "floor(number): rounded down", kinds: oneNumber, run: rounded(math.Floor)},
	"round": {usage: "round(number): rounded to the nearest", kinds: oneNumber, run: rounded(math.Round)},
	"int": {
		usage: "int(value): a number without its fraction, or the whole number in a text",
		kinds: oneAny, run: toInt,
	},
	"float": {usage: "float(value): the number, or the one in a text", kinds: oneAny, run: toFloat},
	"max": {
		usage: "max(number, …): the largest; lists of numbers do, too",
		kinds: oneAny, many: true, run: extreme(1),
	},
	"min": {
		usage: "min(number, …): the smallest; lists of numbers do, too",
		kinds: oneAny, many: true, run: extreme(-1),
	},
	"mean": {
		usage: "mean(number, …): the average; lists of numbers do, too",
		kinds: oneAny, many: true, run: mean,
	},
	"median": {
		usage: "median(number, …): the middle one; lists of numbers do, too",
		kinds: oneAny, many: true, run: median,
	},
	"bitand": {
		usage: "bitand(a, b): bits in both",
		kinds: twoIntegers, run: bitwise(func(a, b int) int { return a & b }),
	},
	"bitor": {
		usage: "bitor(a, b): bits in either",
		kinds: twoIntegers, run: bitwise(func(a, b int) int { return a | b }),
	},
	"bitxor": {
		usage: "bitxor(a, b): bits in only one",
		kinds: twoIntegers, run: bitwise(func(a, b int) int { return a ^ b }),
	},
	"bitnand": {
		usage: "bitnand(a, b): bits of a that are not in b",
		kinds: twoIntegers, run: bitwise(func(a, b int) int { return a &^ b }),
	},
	"bitnot": {
		usage: "bitnot(a): all bits turned over",
		kinds: []kind{integerKind}, run: func(_ *frame, args []any) any { return ^args[0].(int) },
	},
	"bitshl": {
		usage: "bitshl(a, n): bits moved left",
		kinds: twoIntegers, run: shift(func(a int, n uint) int { return a << n }),
	},
	"bitshr": {
		usage: "bitshr(a, n): bits moved right, the sign kept",
		kinds: twoIntegers, run: shift(func(a int, n uint) int { return a >> n }),
	},
	"bitushr": {
		usage: "bitushr(a, n): bits moved right, zeros first",
		kinds: twoIntegers, run: shift(func(a int, n uint) int { return int(uint(a) >> n) }),
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
