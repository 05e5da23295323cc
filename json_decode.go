package sluice

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// DecodeJSON gives a JSON value for pipelines to work with: nil, bool, int,
// float64, string, []any or map[string]any. A number that neither int nor
// float64 holds exactly stays a json.Number.
func DecodeJSON[S ~string | ~[]byte](data S) (any, error) {
	r := valueReader{data: string(data)}
	if value, ok := r.read(); ok {
		return value, nil
	}
	return decodeStandard([]byte(data))
}

// DecodeEvent gives a stored event in the same way, with room for fields that
// are known only now. Its texts are parts of one: as long as any of them is kept,
// all are.
func DecodeEvent(data []byte) (map[string]any, error) {
	const fields, items, spare = 32, 8, 2 // as many as events usually have, and two more
	r := valueReader{data: string(data), shared: true, spare: spare, fields: make([]valueField, 0, fields), items: make([]any, 0, items)}
	value, ok := r.read()
	if !ok {
		var err error
		if value, err = decodeStandard(data); err != nil {
			return nil, err
		}
	}
	event, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the event is no object")
	}
	return event, nil
}

// decodeStandard does the same with encoding/json.
func decodeStandard(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &json.SyntaxError{Offset: dec.InputOffset()}
	}
	return plainNumbers(value), nil
}

func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return plainNumber(v)
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return value
}

func plainNumber(n json.Number) any {
	if i, err := strconv.Atoi(string(n)); err == nil && strconv.Itoa(i) == string(n) {
		return i
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return n
	}
	const longest = 64 // digits: no float64 that people write has more
	want := digits(string(n))
	if len(want) > longest || digits(strconv.FormatFloat(f, 'e', max(0, len(want)-1), 64)) != want {
		return n
	}
	return f
}

// digits gives the significant digits of a number.
func digits(number string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	mantissa = strings.ReplaceAll(strings.TrimPrefix(mantissa, "-"), ".", "")
	return strings.Trim(mantissa, "0")
}
