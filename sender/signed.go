package sender

import (
	"cmp"
	"strings"
)

// A field is where a fragment of what is signed comes from.
type field int

const (
	fieldLiteral field = iota
	fieldBody
	fieldTimestamp
	fieldID
	fieldURL
	fieldMethod
)

var fields = map[string]field{
	"body": fieldBody, "timestamp": fieldTimestamp, "id": fieldID, "url": fieldURL, "method": fieldMethod,
}

// A fragment is a part of what is signed.
type fragment struct {
	field   field
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
		at, known := fields[name]
		if !closed || !known {
			return nil, fieldError("signed",
				"has the unknown placeholder {%s}; there are {body}, {timestamp}, {id}, {url} and {method}", name)
		}
		fragments = append(fragments, fragment{field: at})
		rest = tail
	}
	if len(fragments) > maxFragments {
		return nil, fieldError("signed", "has more than %d parts", maxFragments)
	}
	return fragments, nil
}
