package sender

import (
	"bytes"
	"encoding/json"
	"iter"

	"sluice"
	"sluice/value"
)

// lookup returns the bytes of a value in JSON by its path, nil if it isn't there. It reads
// and checks no more than it must. In a list the only name is 0, and the list must have
// exactly one item.
func lookup(data []byte, path []string) []byte {
	at := value.SkipSpace(data, 0)
	for _, name := range path {
		if at = enter(data, at, name); at < 0 {
			return nil
		}
	}
	end := value.SkipValue(data, at)
	if end < 0 {
		return nil
	}
	return data[at:end]
}

// enter returns the position of a member of an object or of an element of a list, -1 if
// there is none.
func enter(data []byte, at int, name string) int {
	switch {
	case at >= len(data):
		return -1
	case data[at] == '{':
		return member(data, value.SkipSpace(data, at+1), name)
	case data[at] == '[' && name == "0":
		start := value.SkipSpace(data, at+1)
		end := value.SkipValue(data, start)
		if end < 0 {
			return -1
		}
		if end = value.SkipSpace(data, end); end < len(data) && data[end] == ']' {
			return start
		}
	}
	return -1
}

// elements visits the items of a JSON list, and nil where the list is malformed.
func elements(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(data) == 0 || data[0] != '[' {
			return
		}
		at := value.SkipSpace(data, 1)
		for at < len(data) && data[at] != ']' {
			end := value.SkipValue(data, at)
			if end < 0 {
				yield(nil)
				return
			}
			if !yield(data[at:end]) {
				return
			}
			at = value.SkipSpace(data, end)
			if at < len(data) && data[at] == ',' {
				at = value.SkipSpace(data, at+1)
			} else if at >= len(data) || data[at] != ']' {
				yield(nil)
				return
			}
		}
	}
}

func member(data []byte, at int, name string) int {
	for at < len(data) && data[at] == '"' {
		end := value.SkipValue(data, at)
		if end < 0 {
			return -1
		}
		found := isName(data[at:end], name)
		if at = value.SkipSpace(data, end); at >= len(data) || data[at] != ':' {
			return -1
		}
		at = value.SkipSpace(data, at+1)
		if found {
			return at
		}
		if at = value.SkipValue(data, at); at < 0 {
			return -1
		}
		if at = value.SkipSpace(data, at); at >= len(data) || data[at] != ',' {
			return -1
		}
		at = value.SkipSpace(data, at+1)
	}
	return -1
}

// isName reports whether a JSON string is a name.
func isName(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == name
	}
	var text string
	return json.Unmarshal(quoted, &text) == nil && text == name
}

// putMember adds a member to a body that is a JSON object, before all others.
func putMember(body []byte, name string, member any) ([]byte, error) {
	encoded, err := value.Marshal(map[string]any{name: member})
	if err != nil {
		return nil, err
	}
	at := value.SkipSpace(body, 0)
	if !json.Valid(body) || body[at] != '{' {
		return nil, notAnObject()
	}
	rest := body[at+1:]
	if next := value.SkipSpace(rest, 0); rest[next] != '}' {
		encoded[len(encoded)-1] = ','
		return append(encoded, rest...), nil
	}
	return encoded, nil
}

// scalar returns a JSON string or number as text; other values can't be ids.
func scalar(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // what is no JSON has no id
		return text
	case (c == '-' || c >= '0' && c <= '9') && json.Valid(raw):
		return string(raw)
	}
	return ""
}

func notAnObject() *sluice.Error {
	return sluice.Errorf(sluice.CodeNotSignable, "Calls of this sender have a JSON object as their body.")
}

// listIn decodes a body, and returns the list that is a member of it; none if there is no such list.
func listIn(body []byte, member string) (whole map[string]any, list []any) {
	decoded, _ := value.Decode(body)
	whole, _ = decoded.(map[string]any)
	list, _ = whole[member].([]any)
	return whole, list
}
