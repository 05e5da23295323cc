package expression

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// text gives the form that a value has within text: a text as it is, null as
// nothing, anything else as compact JSON.
func (f *frame) text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	}
	return f.json(v)
}

// json gives a value as compact JSON with its keys in order.
func (f *frame) json(v any) (string, error) {
	b, err := f.appendJSON(f.buffer[:0], v, 0)
	if err != nil {
		return "", err
	}
	f.buffer = b
	if err := f.makeText(len(b)); err != nil {
		return "", err
	}
	return string(b), nil
}

func (f *frame) appendJSON(b []byte, v any, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return nil, tooDeep()
	}
	if len(b) > MaxValue {
		return nil, f.makeText(len(b))
	}
	v, err := f.known(v)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case float64:
		return appendFloat(b, v)
	case json.Number:
		return append(b, v...), f.read(len(v))
	case string:
		return appendText(f, b, v)
	case []any:
		return f.appendList(b, v, depth)
	case map[string]any:
		return f.appendObject(b, v, depth)
	}
	text, err := f.text(v)
	return sluice.AppendJSONString(b, text), err
}

// appendText refuses a text early that would outgrow the limit.
func appendText(f *frame, b []byte, text string) ([]byte, error) {
	size := len(b) + len(text)
	for i := range len(text) {
		if text[i] < ' ' {
			size += len(`\u0000`) - 1
		}
	}
	if size > MaxValue {
		return nil, f.makeText(size)
	}
	return sluice.AppendJSONString(b, text), f.read(len(text))
}

func appendFloat(b []byte, v float64) ([]byte, error) {
	if _, err := finite(v); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func (f *frame) appendList(b []byte, list []any, depth int) ([]byte, error) {
	if err := f.spend(len(list)); err != nil {
		return nil, err
	}
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = f.appendJSON(b, item, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func (f *frame) appendObject(b []byte, object map[string]any, depth int) ([]byte, error) {
	keys, err := f.sortedKeys(object)
	if err != nil {
		return nil, err
	}
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendText(f, b, key); err != nil {
			return nil, err
		}
		b = append(b, ':')
		if b, err = f.appendJSON(b, object[key], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// sortedKeys gives the keys in order, so that equal objects look equal.
func (f *frame) sortedKeys(object map[string]any) ([]string, error) {
	const bytesPerKey = 16
	if err := f.allocate(bytesPerKey * len(object)); err != nil {
		return nil, err
	}
	if err := f.spend(len(object) * (1 + logarithm(len(object)))); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(object))
	bytes := 0
	for key := range object {
		keys = append(keys, key)
		bytes += len(key)
	}
	slices.Sort(keys)
	return keys, f.read(bytes)
}

// logarithm tells how often n can be halved.
func logarithm(n int) int {
	log := 0
	for ; n > 1; n /= 2 {
		log++
	}
	return log
}

var errNotJSON = failure("the text is not JSON")

// fromJSON reads a text as one JSON value; whole numbers become ints.
func (f *frame) fromJSON(text string) (any, error) {
	items, err := countJSON(text)
	if err != nil {
		return nil, err
	}
	const bytesPerJSONItem = 300 // an object of one member takes the most
	if err := f.makeItems(items); err != nil {
		return nil, err
	}
	if err := f.allocate(items * bytesPerJSONItem); err != nil {
		return nil, err
	}
	const bytesPerDecoder = 1 << 10
	if err := f.makeText(len(text) + bytesPerDecoder); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, errNotJSON
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return withNumbers(v), nil
}

// countJSON counts items and depth before anything is made of the text: few
// bytes of JSON can take many of memory.
func countJSON(text string) (items int, err error) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			items++
			depth++
			if depth > MaxDepth {
				return 0, tooDeep()
			}
		case c == ']' || c == '}':
			depth--
		case c == ',':
			items++
		}
	}
	return items, nil
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withNumbers(v[key])
		}
	}
	return v
}

// number gives an int or a float64 if one holds the number, else the number.
func number(n json.Number) any {
	if i, err := strconv.Atoi(string(n)); err == nil {
		return i
	}
	if strings.ContainsAny(string(n), ".eE") {
		if float, err := n.Float64(); err == nil && !math.IsInf(float, 0) {
			return float
		}
	}
	return n
}
