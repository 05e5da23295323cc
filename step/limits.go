package step

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sluice"
)

// The limits on values that the steps read or make.
const (
	MaxText   = 8 << 20   // bytes of one text, and of all texts in one value
	MaxYAML   = 1 << 20   // bytes of YAML to read: its parser takes 160 times as much memory
	MaxItems  = 100_000   // items of one list or object
	MaxValues = 1_000_000 // values within one value
	MaxDepth  = 64        // lists and objects within each other
)

// textOf gives an input that must be text.
func textOf(input any, limit int) (string, error) {
	text, ok := input.(string)
	if !ok {
		return "", invalid("input", "must be text, not %s", describe(input))
	}
	if len(text) > limit {
		return "", errTooLong(limit)
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

// describe names the type of a value, never the value: it may be a secret.
func describe(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case int, float64, json.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "something else"
}

// A measure adds up what a value holds, to refuse it before it is written.
type measure struct {
	text   int
	values int
}

// check refuses a value that is past the limits.
func check(value any) error {
	return new(measure).add(value, 0)
}

func (m *measure) add(value any, depth int) error {
	switch v := value.(type) {
	case string:
		m.text += len(v)
	case json.Number:
		m.text += len(v)
	case []any:
		if err := m.enter(len(v), depth); err != nil {
			return err
		}
		for _, item := range v {
			if err := m.add(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := m.enter(len(v), depth); err != nil {
			return err
		}
		for key, item := range v {
			m.text += len(key)
			if err := m.add(item, depth+1); err != nil {
				return err
			}
		}
	}
	if m.text > MaxText {
		return errTooLong(MaxText)
	}
	return nil
}

// enter counts the items of a list or an object.
func (m *measure) enter(items, depth int) error {
	if depth >= MaxDepth {
		return errTooDeep()
	}
	if items > MaxItems {
		return errTooManyItems()
	}
	m.values += items + 1
	if m.values > MaxValues {
		return errTooManyValues()
	}
	return nil
}

func errTooLong(limit int) error {
	return sluice.Errorf(sluice.TooLarge, "value-too-large", "A text is limited to %d MiB here; work on smaller pieces.", limit>>20)
}

func errTooManyItems() error {
	return sluice.Errorf(sluice.TooLarge, "too-many-items", "A list or an object is limited to %d items; work on smaller pieces.", MaxItems)
}

func errTooManyValues() error {
	return sluice.Errorf(sluice.TooLarge, "too-many-items", "The lists and objects in a value are limited to %d items in all; work on smaller pieces.", MaxValues)
}

func errTooDeep() error {
	return sluice.Errorf(sluice.Invalid, "too-deep", "Lists and objects may be %d deep within each other, not more.", MaxDepth)
}

// position gives the line and the column of a place in a text, counted from 1,
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
