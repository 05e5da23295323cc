package sluice

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

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

// appendCount appends a number that is left out if it is 0.
func appendCount(b []byte, name string, value int) []byte {
	if value == 0 {
		return b
	}
	return appendNumber(b, name, value)
}

func appendTime(b []byte, name string, at time.Time) []byte {
	b = at.AppendFormat(append(append(b, name...), '"'), time.RFC3339Nano)
	return append(b, '"')
}

// appendProblem appends an error, if there is one.
func appendProblem(b []byte, p *Problem) []byte {
	if p == nil {
		return b
	}
	return appendJSON(append(b, `,"error":`...), p)
}

// appendListeners appends the names of pipelines, if there are any.
func appendListeners(b []byte, names []string) []byte {
	if len(names) == 0 {
		return b
	}
	return appendStrings(append(b, `,"listeners":`...), names)
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
