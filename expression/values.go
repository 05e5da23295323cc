package expression

import (
	"encoding/json"
	"errors"
	"math/bits"
	"slices"
	"time"

	"sluice/value"
)

// describe names the type of a value that expressions work on.
func describe(v any) string {
	switch v.(type) {
	case json.Number:
		return "a number too large to compute with"
	case time.Time:
		return "a time"
	case time.Duration:
		return "a duration"
	}
	return value.Describe(v)
}

// nothing is the value of ?. where no member can be: the rest of its chain, such as .b in
// body?.a.b, is left out.
type nothing struct{}

// plain converts a value that leaves the expression to JSON types, within the limits of
// values.
func (f *frame) plain(v any) any {
	v, _ = f.weighed(v)
	return v
}

// weighed is plain with the weight of the value. It copies only values that have times or
// durations in them.
func (f *frame) weighed(v any) (plain any, weight value.Scale) {
	err := weight.Add(v)
	if errors.Is(err, value.ErrForeign) {
		v, weight = f.converted(v, 0), value.Scale{}
		err = weight.Add(v)
	}
	check(err)
	f.spend(weight.Items)
	return v, weight
}

// converted returns a copy of a value in which times and durations are text.
func (f *frame) converted(v any, depth int) any {
	checkDepth(depth)
	switch v := v.(type) {
	case nil, bool, int, string, json.Number:
		return v
	case float64:
		return finite(v)
	case time.Time, time.Duration:
		return f.asText(v)
	case []any:
		f.makeItems(len(v))
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = f.converted(item, depth+1)
		}
		return list
	case map[string]any:
		f.makeObject(len(v))
		object := make(map[string]any, len(v))
		for name, field := range v {
			object[name] = f.converted(field, depth+1)
		}
		return object
	}
	return fail("there is %s", describe(v))
}

// asText returns a value as part of a text: a text as it is, null as nothing, anything else
// as compact JSON.
func (f *frame) asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case time.Duration:
		return v.String()
	}
	return f.asJSON(v)
}

// asJSON returns a value as compact JSON with its keys in order.
func (f *frame) asJSON(v any) string {
	v, weight := f.weighed(v)
	f.spend(weight.Comparisons)
	var err error
	f.buffer, err = value.AppendJSON(f.buffer[:0], v, value.MaxSize)
	check(err)
	f.makeText(len(f.buffer))
	return string(f.buffer)
}

// sortedKeys returns the keys of an object in order.
func (f *frame) sortedKeys(object map[string]any) []string {
	const bytesPerKey = 16
	f.allocate(bytesPerKey * len(object))
	f.spend(len(object) * (1 + logarithm(len(object))))
	keys := make([]string, 0, len(object))
	bytes := 0
	for key := range object {
		keys = append(keys, key)
		bytes += len(key)
	}
	slices.Sort(keys)
	f.read(bytes)
	return keys
}

// logarithm returns how often n can be halved.
func logarithm(n int) int { return max(0, bits.Len(uint(n))-1) }
