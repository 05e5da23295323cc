package sender

import (
	"encoding/json"

	"sluice"
	"sluice/value"
)

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
