package pipeline

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"sluice"
)

// appendJSON appends a value as compact JSON with its keys in order, and stops
// as soon as that is longer than a limit.
func appendJSON(b []byte, v any, limit int) []byte {
	if len(b) > limit {
		return b
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case string:
		return sluice.AppendJSONString(b, v)
	case json.Number:
		return append(b, v...)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item, limit)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(sluice.AppendJSONString(b, name), ':')
			b = appendJSON(b, v[name], limit)
		}
		return append(b, '}')
	}
	text, err := json.Marshal(v) // of a float, as everyone writes it
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}

// encode gives a final body as JSON, unless it is too large.
func (l *Limits) encode(v any) (json.RawMessage, error) {
	data := appendJSON(nil, v, l.Result)
	if len(data) > l.Result {
		return nil, sluice.Errorf(sluice.TooLarge, "result-too-large", "The final body is larger than %d bytes as JSON; end the pipeline with a smaller one, such as a summary.", l.Result)
	}
	return data, nil
}
