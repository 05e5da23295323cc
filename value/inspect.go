package value

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Inspect counts the levels of lists and objects in a JSON text, and the values that it
// decodes to at most: a few bytes of JSON can take a lot of memory. The numbers mean
// nothing for other texts.
func Inspect[S ~string | ~[]byte](text S) (levels, values int) {
	now, quoted := 0, false
	values = 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			now++
			values++
			levels = max(levels, now)
		case c == ']' || c == '}':
			now--
		case c == ',':
			values++
		}
	}
	return levels, values
}

// Footprint estimates how many bytes of memory a JSON text takes once it is decoded, and
// gives an upper bound for other formats.
func Footprint[S ~string | ~[]byte](text S) int {
	const object, list, item = 312, 24, 40 // each with the slot that holds it
	bytes, quoted := len(text), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '<':
			bytes += object
		case c == '[':
			bytes += list
		case c == ',' || c == ':' || c == '\n':
			bytes += item
		}
	}
	return bytes
}

// YAMLFootprint estimates how many bytes of memory parsing a YAML text takes: the parser
// keeps a node for each value, with its place and comments.
func YAMLFootprint(text string) int {
	const node = 240
	bytes := len(text)
	for i := range len(text) {
		switch text[i] {
		case '[', '{', ',', ':', '-', '?', '\n':
			bytes += node
		}
	}
	return bytes
}

// Texts returns texts as a list.
func Texts(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// Position returns the line and column of a byte of a text, counted from 1. Columns count characters.
func Position(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// Describe names the type of a value, never the value: it may be a secret.
func Describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int, float64, json.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a value of an unknown type"
}

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

// SkipSpace returns where the next byte is that is no white space of JSON.
func SkipSpace(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t') {
		at++
	}
	return at
}

// SkipValue returns the end of the value that begins at a place, -1 if it has none. It does
// not check what is inside.
func SkipValue(data []byte, at int) int {
	if at >= len(data) {
		return -1
	}
	start, depth := at, 0
	for ; at < len(data); at++ {
		switch data[at] {
		case '"':
			if at = closingQuote(data, at); at < 0 {
				return -1
			}
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
			if depth < 0 {
				return wordEnd(start, at)
			}
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return wordEnd(start, at)
			}
		}
	}
	if depth > 0 {
		return -1
	}
	return at
}

// wordEnd returns the end of a word or number, -1 if it is empty.
func wordEnd(start, at int) int {
	if start == at {
		return -1
	}
	return at
}

// closingQuote returns the position of the quote that ends a string.
func closingQuote(data []byte, at int) int {
	for at++; at < len(data); at++ {
		switch data[at] {
		case '\\':
			at++
		case '"':
			return at
		}
	}
	return -1
}
