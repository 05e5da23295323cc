package step

import (
	"encoding/json"
	"errors"

	"sluice"
	"sluice/value"
)

func fromJSON(input any) (any, error) {
	text, err := textOf(input, value.MaxSize)
	if err != nil {
		return nil, err
	}
	decoded, err := decodeJSON(text)
	if err == nil {
		return decoded, nil
	}
	if refusal := refuseBase64(text, "JSON", `{["`); refusal != nil {
		return nil, refusal
	}
	return nil, err
}

// decodeJSON decodes JSON within the limits of values.
func decodeJSON(text string) (any, error) {
	if _, values := value.Inspect(text); values > value.MaxValues {
		return nil, value.TooManyValues()
	}
	decoded, err := value.Decode(text)
	if err != nil {
		return nil, jsonError(text, err)
	}
	return decoded, weigh(decoded)
}

func jsonError(text string, err error) error {
	if refused, ok := errors.AsType[*value.Error](err); ok {
		return refused
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return sluice.Errorf(sluice.CodeJSONInvalid, "This is not JSON: it ends too early.")
	}
	why, offset := syntax.Error(), int(syntax.Offset)-1
	if why == "" {
		why, offset = "something follows the value", int(syntax.Offset)
	}
	line, column := position(text, offset)
	return sluice.Errorf(sluice.CodeJSONInvalid, "This is not JSON: line %d, column %d: %s.", line, column, why)
}

func toJSON(input any) (any, error) { return encodeJSON(input) }

func encodeJSON(v any) (string, error) {
	text, err := value.AppendJSON(nil, v, value.MaxSize)
	return string(text), err
}

// weigh refuses a value that is past the limits.
func weigh(v any) error { return new(value.Scale).Add(v) }
