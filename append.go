package sluice

import (
	"bytes"
	"encoding/json"
	"strconv"

	"sluice/value"
)

// These append JSON without encoding/json: calls, events and results are written for every call.

func appendField(b []byte, name, text string) []byte {
	b = append(b, name...)
	return value.AppendString(b, text)
}

func appendOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendField(b, name, value)
}

func appendNumber(b []byte, name string, value int) []byte {
	return strconv.AppendInt(append(b, name...), int64(value), 10)
}

func appendMilliseconds(b []byte, name string, value float64) []byte {
	return strconv.AppendFloat(append(b, name...), value, 'f', -1, 64)
}

func appendStrings(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = value.AppendString(b, text)
	}
	return append(b, ']')
}

func appendKey(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	b = value.AppendString(b, name)
	return append(b, ':')
}

func appendValue(b []byte, value json.RawMessage) []byte {
	if value == nil {
		return append(b, "null"...)
	}
	return append(b, value...)
}

// appendJSON appends what encoding/json makes of a value that has a JSON form,
// without escaping for HTML.
func appendJSON(b []byte, v any) []byte {
	text := bytes.NewBuffer(b)
	if err := value.Encode(text, v); err != nil {
		panic(err) // none of our values
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
