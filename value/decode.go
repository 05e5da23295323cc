package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Decode returns the value of a JSON text. It rejects too deep nesting with an Error; its
// other errors are those of encoding/json.
func Decode[S ~string | ~[]byte](data S) (any, error) {
	r := reader{data: string(data)}
	if v, ok := r.read(); ok {
		return v, nil
	}
	return decodeStandard([]byte(data))
}

// DecodeObject decodes an object, with space for two more fields. Its strings share memory:
// keeping one of them keeps all.
func DecodeObject(data []byte) (map[string]any, error) {
	const fields, items, spare = 32, 8, 2 // as many as events usually have
	r := reader{data: string(data), shared: true, spare: spare, fields: make([]field, 0, fields), items: make([]any, 0, items)}
	v, ok := r.read()
	if !ok {
		var err error
		if v, err = decodeStandard(data); err != nil {
			return nil, err
		}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the JSON is no object")
	}
	return object, nil
}

// decodeStandard is Decode with encoding/json.
func decodeStandard(data []byte) (any, error) {
	if levels, _ := Inspect(data); levels > MaxDepth+1 {
		return nil, TooDeep()
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &json.SyntaxError{Offset: dec.InputOffset()}
	}
	return exactNumbers(v), nil
}

func exactNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return exactNumber(v)
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exactNumbers(v[name])
		}
	}
	return v
}

// exactNumber returns an int or float64 if that holds the number exactly, otherwise the
// number itself.
func exactNumber(n json.Number) any {
	if i, err := strconv.Atoi(string(n)); err == nil && strconv.Itoa(i) == string(n) {
		return i
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return n
	}
	const longest = 64 // digits: no float64 written by people has more
	want := digits(string(n))
	if len(want) > longest || digits(strconv.FormatFloat(f, 'e', max(0, len(want)-1), 64)) != want {
		return n
	}
	return f
}

// digits returns the significant digits of a number.
func digits(number string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	mantissa = strings.ReplaceAll(strings.TrimPrefix(mantissa, "-"), ".", "")
	return strings.Trim(mantissa, "0")
}
