package expression

import (
	"cmp"
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"sluice/value"
)

func equal(f *frame, a, b any) (any, error) { return f.equal(a, b, 0) }

func unequal(f *frame, a, b any) (any, error) {
	same, err := f.equal(a, b, 0)
	return !same, err
}

// equal reports whether two values are the same. Numbers are compared by value; values of
// different types differ.
func (f *frame) equal(a, b any, depth int) (bool, error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok && len(x) == len(y) {
			return x == y, f.read(len(x))
		}
	case int:
		if y, ok := b.(int); ok {
			return x == y, nil
		}
		y, ok := b.(float64)
		return ok && float64(x) == y, nil
	case float64:
		y, ok := float(b)
		return ok && x == y, nil
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y), nil
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			return f.equalLists(x, y, depth)
		}
	case map[string]any:
		if y, ok := b.(map[string]any); ok && len(x) == len(y) {
			return f.equalObjects(x, y, depth)
		}
	case nil, bool, time.Duration, json.Number:
		return a == b, nil
	}
	return false, nil
}

func (f *frame) equalLists(a, b []any, depth int) (bool, error) {
	if depth > value.MaxDepth {
		return false, value.TooDeep()
	}
	for i := range a {
		if err := f.spend(1); err != nil {
			return false, err
		}
		if same, err := f.equal(a[i], b[i], depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (f *frame) equalObjects(a, b map[string]any, depth int) (bool, error) {
	if depth > value.MaxDepth {
		return false, value.TooDeep()
	}
	for key, x := range a {
		if err := f.spend(1 + len(key)/bytesPerStep); err != nil {
			return false, err
		}
		y, ok := b[key]
		if !ok {
			return false, nil
		}
		if same, err := f.equal(x, y, depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// compare orders two numbers, texts, times or durations.
func (f *frame) compare(a, b any) (int, error) {
	if x, y, ok := ints(a, b); ok {
		return cmp.Compare(x, y), nil
	}
	if x, y, ok := floats(a, b); ok {
		return cmp.Compare(x, y), nil
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), f.read(min(len(x), len(y)))
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y), nil
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			return cmp.Compare(x, y), nil
		}
	}
	return 0, errOperands
}

// ordered makes an operator from a test on the order of two values.
func ordered(holds func(order int) bool) operate {
	return func(f *frame, a, b any) (any, error) {
		order, err := f.compare(a, b)
		return holds(order), err
	}
}

// in reports whether a list has an item or an object a key.
func in(f *frame, a, b any) (any, error) {
	switch b := b.(type) {
	case nil:
		return false, nil
	case []any:
		for _, item := range b {
			if err := f.spend(1); err != nil {
				return nil, err
			}
			if same, err := f.equal(a, item, 0); same || err != nil {
				return same, err
			}
		}
		return false, nil
	case map[string]any:
		key, ok := a.(string)
		if !ok {
			return nil, errOperands
		}
		_, found := b[key]
		return found, f.read(len(key))
	}
	return nil, errOperands
}

// texts makes an operator from a test on two texts. With null it is false.
func texts(test func(s, part string) bool) operate {
	return func(f *frame, a, b any) (any, error) {
		if a == nil || b == nil {
			return false, nil
		}
		x, okLeft := a.(string)
		y, okRight := b.(string)
		if !okLeft || !okRight {
			return nil, errOperands
		}
		return test(x, y), f.read(len(x) + len(y))
	}
}

// pattern compiles a regular expression that is small enough for long texts.
func pattern(source string, largest int) (*regexp.Regexp, int, error) {
	const longest = 1_000
	if len(source) > longest {
		return nil, 0, fail("The pattern is longer than %d bytes.", longest)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, 0, fail("The pattern is not a regular expression: %s.", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	size := patternSize(tree)
	if size > largest {
		return nil, 0, fail("The pattern is too large: with its repetitions written out it has %d parts, and %d are left for this expression.", size, largest)
	}
	compiled, err := regexp.Compile(source)
	return compiled, size, err
}

// patternSize counts the parts of a pattern with its repetitions written out.
func patternSize(tree *syntax.Regexp) int {
	size := 0
	for _, sub := range tree.Sub {
		size += patternSize(sub)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		return len(tree.Rune)
	case syntax.OpCharClass:
		const rangesPerPart = 8 // each has two runes
		return 1 + len(tree.Rune)/(2*rangesPerPart)
	case syntax.OpRepeat:
		size *= max(tree.Min, tree.Max, 1)
	}
	return size + 1
}

// matches pays for the worst case: every byte against every part.
func matches(expression *regexp.Regexp, size int) func(f *frame, v any) (any, error) {
	const partsPerStep = 8
	return func(f *frame, v any) (any, error) {
		switch v := v.(type) {
		case nil:
			return false, nil
		case string:
			if err := f.spend(len(v) * size / partsPerStep); err != nil {
				return nil, err
			}
			return expression.MatchString(v), nil
		}
		return nil, fail("matches needs text, not %s", describe(v))
	}
}
