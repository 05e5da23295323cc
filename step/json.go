package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"sluice"
)

func fromJSON(input any) (any, error) {
	text, err := textOf(input, MaxText)
	if err != nil {
		return nil, err
	}
	return decodeJSON(text)
}

// decodeJSON reads JSON within the limits.
func decodeJSON(text string) (any, error) {
	if err := boundJSON(text); err != nil {
		return nil, err
	}
	value, err := sluice.DecodeJSON(text)
	if err != nil {
		return nil, jsonError(text, err)
	}
	return value, nil
}

func jsonError(text string, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return sluice.Errorf(sluice.Invalid, "json-invalid", "This is not JSON: it ends too early.")
	}
	why, offset := syntax.Error(), int(syntax.Offset)-1
	if why == "" {
		why, offset = "something follows the value", int(syntax.Offset)
	}
	line, column := position(text, offset)
	return sluice.Errorf(sluice.Invalid, "json-invalid", "This is not JSON: line %d, column %d: %s.", line, column, why)
}

// boundJSON refuses JSON past the limits before memory is spent on it. Of what
// is not JSON it may say anything.
func boundJSON(text string) error {
	var items [MaxDepth + 1]int
	depth, values := 0, 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '[', '{':
			if depth++; depth > MaxDepth {
				return errTooDeep()
			}
			items[depth] = 1
			values++
		case ']', '}':
			depth = max(0, depth-1)
		case ',':
			items[depth]++
			values++
			if items[depth] > MaxItems {
				return errTooManyItems()
			}
		}
	}
	if values > MaxValues {
		return errTooManyValues()
	}
	return nil
}

// endOfString gives the place of the quote that ends the string at start.
func endOfString(text string, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

func toJSON(input any) (any, error) {
	text, err := encodeJSON(input)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// encodeJSON writes a value as JSON without spaces, and without escapes that
// only HTML needs.
func encodeJSON(value any) (string, error) {
	if err := check(value); err != nil {
		return "", err
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", sluice.Errorf(sluice.Invalid, "not-json", "This value has no form in JSON: it has a number that is not finite, or is no plain value.").Because(err)
	}
	if encoded.Len() > MaxText {
		return "", errTooLong(MaxText)
	}
	return strings.TrimSuffix(encoded.String(), "\n"), nil
}

// plain gives a value as reading its JSON would, so that it has no other types
// than sluice.DecodeJSON gives.
func plain(value any) (any, error) {
	text, err := encodeJSON(value)
	if err != nil {
		return nil, err
	}
	return decodeJSON(text)
}
