package sender

import (
	"cmp"
	"slices"
	"strings"
)

// maxPattern bounds the text of a format, and the path to an id in a body.
const maxPattern = 256

// maxAlternatives bounds the signatures in one header: senders put in one for each of
// their keys.
const maxAlternatives = 16

// The placeholders of a format and of what is signed.
const (
	inSignature = "{signature}"
	inTimestamp = "{timestamp}"
)

// A format says how a header reads: parts with a separator between them, in any
// order. Parts that it doesn't know are skipped, since senders add some.
type format struct {
	parts     []part
	separator byte
}

// A part is a prefix and a value behind it.
type part struct {
	prefix    string
	timestamp bool // otherwise it is a signature
}

func (f format) timestamps() bool { return len(f.parts) == 2 }

// parseFormat reads a format such as "t={timestamp},v1={signature}". The separator stands
// between two placeholders; with only one placeholder it is a space.
func parseFormat(text string) (f format, err error) {
	text = cmp.Or(text, inSignature)
	if len(text) > maxPattern || !isPrintable(text) {
		return f, fieldError("format", "must be printable ASCII of at most %d bytes", maxPattern)
	}
	f.separator = ' '
	for rest := text; rest != ""; {
		prefix, behind, ok := strings.Cut(rest, "{")
		name, tail, closed := strings.Cut(behind, "}")
		if !ok || !closed {
			return f, fieldError("format", "must end with {signature} or {timestamp}")
		}
		if len(f.parts) == 1 {
			if prefix == "" || strings.IndexByte(",; ", prefix[0]) < 0 {
				return f, fieldError("format",
					"must have a comma, a semicolon or a space between {timestamp} and {signature}")
			}
			f.separator, prefix = prefix[0], strings.TrimLeft(prefix[1:], " ")
		}
		if name != "signature" && name != "timestamp" {
			return f, fieldError("format", "has the unknown placeholder {%s}; there are {signature} and {timestamp}",
				name)
		}
		f.parts = append(f.parts, part{prefix, name == "timestamp"})
		rest = tail
	}
	return f, f.check()
}

func (f format) check() error {
	switch len(f.parts) {
	case 1:
		if !f.parts[0].timestamp {
			return nil
		}
	case 2:
		if a, b := f.parts[0], f.parts[1]; a.timestamp != b.timestamp {
			if strings.HasPrefix(a.prefix, b.prefix) || strings.HasPrefix(b.prefix, a.prefix) {
				return fieldError("format",
					"must have different texts before {timestamp} and {signature}, such as t= and v1=")
			}
			return nil
		}
	}
	return fieldError("format", "must have {signature} once and {timestamp} at most once")
}

// scan finds the signatures in a header, appended to found, and the timestamp.
func (f format) scan(value string, found []string) (signatures []string, timestamp string, ok bool) {
	for value != "" {
		value = strings.TrimLeft(value, " ")
		at := f.part(value)
		if at >= 0 {
			value = value[len(f.parts[at].prefix):]
		}
		end := strings.IndexByte(value, f.separator)
		if end < 0 {
			end = len(value)
		}
		text := value[:end]
		value = value[min(end+1, len(value)):]
		switch {
		case at < 0 || text == "":
		case f.parts[at].timestamp && timestamp != "", len(found) == maxAlternatives:
			return nil, "", false
		case f.parts[at].timestamp:
			timestamp = text
		default:
			found = append(found, text)
		}
	}
	return found, timestamp, len(found) > 0 && (timestamp != "") == f.timestamps()
}

// part returns the number of the part that a text begins with, -1 if there is
// none.
func (f format) part(text string) int {
	for i, p := range f.parts {
		if strings.HasPrefix(text, p.prefix) {
			return i
		}
	}
	return -1
}

// placeholders are what can be signed.
var placeholders = []string{"body", "timestamp", "id", "url", "method"}

// A fragment is a part of what is signed: what a placeholder stands for, or a text.
type fragment struct {
	field   string
	literal []byte
}

// maxFragments bounds how often the body is hashed.
const maxFragments = 16

// parseSigned reads what is signed, such as "{timestamp}.{body}".
func parseSigned(text string) (fragments []fragment, err error) {
	text = cmp.Or(text, "{body}")
	if len(text) > maxPattern || !isPrintable(text) {
		return nil, fieldError("signed", "must be printable ASCII of at most %d bytes", maxPattern)
	}
	for rest := text; rest != ""; {
		literal, behind, more := strings.Cut(rest, "{")
		if literal != "" {
			fragments = append(fragments, fragment{literal: []byte(literal)})
		}
		if !more {
			break
		}
		name, tail, closed := strings.Cut(behind, "}")
		if !closed || !slices.Contains(placeholders, name) {
			return nil, fieldError("signed",
				"has the unknown placeholder {%s}; there are {body}, {timestamp}, {id}, {url} and {method}", name)
		}
		fragments = append(fragments, fragment{field: name})
		rest = tail
	}
	if len(fragments) > maxFragments {
		return nil, fieldError("signed", "has more than %d parts", maxFragments)
	}
	return fragments, nil
}
