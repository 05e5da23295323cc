package value

import (
	"encoding/json"
	"iter"
)

// Lookup returns the bytes of a value in JSON by its path, nil if it isn't there. It reads
// and checks no more than it must. In a list the only name is 0, and the list must have
// exactly one item.
func Lookup(data []byte, path ...string) []byte {
	for _, name := range path {
		data = enter(data, name)
	}
	return data
}

// enter returns the value of a member of an object or of the item of a list, nil if there is none.
func enter(data []byte, name string) (item []byte) {
	for p := range Parts(data) {
		switch {
		case p.Name == nil && (item != nil || name != "0" || p.Value == nil):
			return nil
		case p.Name == nil:
			item = p.Value
		case p.Is(name):
			return p.Value
		}
	}
	return item
}

// Elements visits the items of a JSON list, and nil where the list is malformed.
func Elements(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for p := range Parts(data) {
			if p.Name != nil || !yield(p.Value) {
				return
			}
		}
	}
}

// Scalar returns a JSON string or number as text, "" for anything else.
func Scalar(raw []byte) (text string) {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		_ = json.Unmarshal(raw, &text) // what is no JSON has no text
	case (c == '-' || c >= '0' && c <= '9') && json.Valid(raw):
		return string(raw)
	}
	return text
}
