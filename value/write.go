package value

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// IsMediaType reports whether a media type, in lower case and without parameters, is JSON.
func IsMediaType(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// Marshal returns the compact JSON of a Go value. Other than json.Marshal it has no escapes
// for HTML, which make six bytes of one: what fits as it came must also fit when it is stored.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := Encode(&b, v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// MarshalIndent does the same on several lines, for people.
func MarshalIndent(v any) ([]byte, error) {
	compact, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, compact, "", "  ")
	return b.Bytes(), err
}

// Encode writes a Go value as a line of JSON, without escapes for HTML.
func Encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// AppendJSON appends a value as compact JSON with sorted keys, so that equal values look
// equal. Beyond the limit it stops with an Error, and returns the bytes written so far.
func AppendJSON(b []byte, v any, limit int) ([]byte, error) {
	b, err := appendValue(b, v, limit, 0)
	if err == nil && len(b) > limit {
		err = TooLarge(limit)
	}
	return b, err
}

func appendValue(b []byte, v any, limit, depth int) ([]byte, error) {
	if len(b) > limit {
		return b, TooLarge(limit)
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case float64:
		text, err := json.Marshal(v) // in the form of encoding/json
		if err != nil {
			return b, ErrForeign
		}
		return append(b, text...), nil
	case json.Number:
		return append(b, v...), nil
	case string:
		return appendLong(b, v, limit)
	case []any:
		return appendList(b, v, limit, depth)
	case map[string]any:
		return appendObject(b, v, limit, depth)
	}
	return b, ErrForeign
}

func appendList(b []byte, list []any, limit, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return b, TooDeep()
	}
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendValue(b, item, limit, depth+1); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, object map[string]any, limit, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return b, TooDeep()
	}
	names := slices.AppendSeq(make([]string, 0, len(object)), maps.Keys(object))
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendLong(b, name, limit); err != nil {
			return b, err
		}
		b = append(b, ':')
		if b, err = appendValue(b, object[name], limit, depth+1); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendLong appends a text in chunks, since escapes may make it six times as long.
func appendLong(b []byte, text string, limit int) ([]byte, error) {
	const chunk = 4 << 10
	b = append(b, '"')
	for len(text) > chunk {
		end := chunk
		for end > chunk-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		if b = appendEscaped(b, text[:end]); len(b) > limit {
			return b, TooLarge(limit)
		}
		text = text[end:]
	}
	return append(appendEscaped(b, text), '"'), nil
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString[S string | []byte](b []byte, s S) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// plain has the bytes that stand for themselves in a JSON string.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

func appendEscaped[S string | []byte](b []byte, s S) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && size == 1 {
				b = append(b, s[start:i]...)
				b = append(b, `\ufffd`...)
				start = i + 1
			}
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(b, s[start:]...)
}
