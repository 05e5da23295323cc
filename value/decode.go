// Package value says what a JSON value is: what events carry, expressions
// compute with and pipelines pass on. It is nil, bool, int, float64, string,
// []any or map[string]any, or a json.Number where neither int nor float64 holds
// a number exactly. Values are shared, never copied: treat them as read-only.
//
// The package decodes, encodes, weighs, compares and describes values, and limits how deep
// and large they may be. Package expression computes with them, and package step converts
// them between formats. The root package turns an Error of this package into its own.
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
	return decodeRare([]byte(data))
}

// DecodeObject decodes an object, with space for two more fields. Its strings share memory:
// keeping one of them keeps all.
func DecodeObject(data []byte) (map[string]any, error) {
	const fields, items, spare = 32, 8, 2 // as many as events usually have
	r := reader{
		data: string(data), shared: true, spare: spare, fields: make([]field, 0, fields), items: make([]any, 0, items),
	}
	v, ok := r.read()
	if !ok {
		var err error
		if v, err = decodeRare(data); err != nil {
			return nil, err
		}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the JSON is no object")
	}
	return object, nil
}

// decodeRare is Decode for what the reader has given up on: wrong JSON, and bytes that are not UTF-8.
func decodeRare(data []byte) (any, error) {
	if levels, _ := Inspect(data); levels > MaxDepth+1 {
		return nil, TooDeep()
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(new(json.RawMessage)); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &json.SyntaxError{Offset: dec.InputOffset()}
	}
	r := reader{data: string([]rune(string(data)))}
	v, _ := r.read()
	return v, nil
}

// exactNumber returns an int or float64 if that holds the number exactly, otherwise the
// number itself.
func exactNumber(n json.Number) any {
	if i, err := strconv.Atoi(string(n)); err == nil && n != "-0" {
		return i
	}
	const longest = 64 // digits: no float64 written by people has more
	want := digits(string(n))
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || len(want) > longest ||
		digits(strconv.FormatFloat(f, 'e', max(0, len(want)-1), 64)) != want {
		return json.Number(strings.Clone(string(n)))
	}
	return f
}

// digits returns the significant digits of a number.
func digits(number string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	mantissa = strings.ReplaceAll(strings.TrimPrefix(mantissa, "-"), ".", "")
	return strings.Trim(mantissa, "0")
}

// A reader decodes JSON in one pass and without reflection, since it decodes every event
// for its pipelines. It gives up on wrong JSON and on bytes that are not UTF-8, and leaves those to
// encoding/json.
type reader struct {
	data   string
	at     int
	shared bool // strings are parts of data
	spare  int  // extra capacity of the outermost object

	// The contents of open lists and objects, so that each is made once in its final size.
	items  []any
	fields []field
}

type field struct {
	name  string
	value any
}

// read returns the value, if there is one and nothing after it.
func (r *reader) read() (value any, ok bool) {
	if value, ok = r.value(0); !ok {
		return nil, false
	}
	return value, r.next() == 0 && r.at == len(r.data)
}

// next skips spaces and returns the byte after them, 0 at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.data); r.at++ {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) value(depth int) (value any, ok bool) {
	switch c := r.next(); {
	case c == '"':
		return r.text()
	case c == '{' && depth <= MaxDepth:
		return r.object(depth + 1)
	case c == '[' && depth <= MaxDepth:
		return r.list(depth + 1)
	case c == 't':
		return true, r.word("true")
	case c == 'f':
		return false, r.word("false")
	case c == 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *reader) word(word string) bool {
	end := r.at + len(word)
	if end > len(r.data) || r.data[r.at:end] != word {
		return false
	}
	r.at = end
	return true
}

func (r *reader) list(depth int) (any, bool) {
	r.at++
	start := len(r.items)
	for first := true; ; first = false {
		c := r.next()
		if c == ']' && first {
			break
		}
		value, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		r.items = append(r.items, value)
		if c = r.next(); c != ',' && c != ']' {
			return nil, false
		}
		if c == ']' {
			break
		}
		r.at++
	}
	r.at++
	list := make([]any, len(r.items)-start)
	copy(list, r.items[start:])
	r.items = r.items[:start]
	return list, true
}

func (r *reader) object(depth int) (any, bool) {
	r.at++
	start := len(r.fields)
	for first := true; ; first = false {
		c := r.next()
		if c == '}' && first {
			break
		}
		if c != '"' {
			return nil, false
		}
		name, ok := r.text()
		if !ok || r.next() != ':' {
			return nil, false
		}
		r.at++
		value, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		r.fields = append(r.fields, field{name, value})
		if c = r.next(); c != ',' && c != '}' {
			return nil, false
		}
		if c == '}' {
			break
		}
		r.at++
	}
	r.at++
	size := len(r.fields) - start
	if depth == 1 {
		size += r.spare
	}
	object := make(map[string]any, size)
	for _, f := range r.fields[start:] {
		object[f.name] = f.value
	}
	r.fields = r.fields[:start]
	return object, true
}

func (r *reader) text() (string, bool) {
	start, end := r.at, stringEnd(r.data, r.at+1)
	if end < 0 {
		return "", false
	}
	r.at = end
	text := r.data[start+1 : end-1]
	switch {
	case strings.IndexByte(text, '\\') >= 0:
		var plain string
		err := json.Unmarshal([]byte(r.data[start:end]), &plain)
		return plain, err == nil
	case !r.shared:
		text = strings.Clone(text)
	}
	return text, true
}

func (r *reader) number() (value any, ok bool) {
	start := r.at
	if start == len(r.data) {
		return nil, false
	}
	if r.at = numberEnd(r.data, start); r.at < 0 {
		return nil, false
	}
	return exactNumber(json.Number(r.data[start:r.at])), true
}
