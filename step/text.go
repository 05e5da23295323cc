package step

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// textOf returns an input that must be text.
func textOf(input any, limit int) (string, error) {
	text, ok := input.(string)
	if !ok {
		return "", invalid("input", "must be text, not %s", value.Describe(input))
	}
	if len(text) > limit {
		return "", value.TooLarge(limit)
	}
	if !utf8.ValidString(text) {
		return "", invalid("input", "must be UTF-8 text")
	}
	return text, nil
}

// invalid refuses a parameter. What it was stays unsaid: it may be a secret.
func invalid(parameter, rule string, args ...any) error {
	return sluice.InvalidParameter(parameter, "The parameter %s %s.", parameter, fmt.Sprintf(rule, args...))
}

// position returns the line and the column of a place in a text, counted from 1,
// the column in characters.
func position(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// cut shortens a text that people read.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
