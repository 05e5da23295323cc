package sender

import (
	"encoding/json"
	"iter"

	"sluice"
	"sluice/value"
)

// lookup returns the bytes of a value in JSON by its path, nil if it isn't there. It reads
// and checks no more than it must. In a list the only name is 0, and the list must have
// exactly one item.
func lookup(data []byte, path []string) []byte {
	for _, name := range path {
		data = enter(data, name)
	}
	return data
}

// enter returns the value of a member of an object or of the item of a list, nil if there is none.
func enter(data []byte, name string) (item []byte) {
	for p := range value.Parts(data) {
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

// elements visits the items of a JSON list, and nil where the list is malformed.
func elements(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for p := range value.Parts(data) {
			if p.Name != nil || !yield(p.Value) {
				return
			}
		}
	}
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
	return sluice.CodeNotSignable.Errorf("Calls of this sender have a JSON object as their body.")
}

// listIn decodes a body, and returns the list that is a member of it; none if there is no such list.
func listIn(body []byte, member string) (whole map[string]any, list []any) {
	decoded, _ := value.Decode(body)
	whole, _ = decoded.(map[string]any)
	list, _ = whole[member].([]any)
	return whole, list
}
