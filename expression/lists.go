package expression

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"sluice/value"
)

// listFunctions has the functions that work on lists, or on values of any type.
var listFunctions = []declaration{
	{"len(value): how many items, members or characters it has", "any", lengthOf},
	{"type(value): nil, bool, int, float, string, array or map", "any", typeName},
	{"first(list): its first item, or nil", "any", itemAt(0)},
	{"last(list): its last item, or nil", "any", itemAt(-1)},
	{"get(value, key): the member or item, or nil", "any any", get},
	{"take(list, n): its first n items", "list whole", firstItems},
	{"reverse(list): the items from last to first", "list", reverse},
	{"uniq(list): each item once", "list", uniq},
	{"concat(list, …): the items of all the lists", "list…", concat},
	{"flatten(list): the items of the lists within it, however deep", "list", flatten},
	{`sort(list[, "asc" or "desc"]): its numbers or texts in order`, "list text?", sortList},
}

func lengthOf(f *frame, args []any) any {
	switch v := args[0].(type) {
	case string:
		f.read(len(v))
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return fail("len needs text, a list or an object, not %s", describe(args[0]))
}

func typeName(_ *frame, args []any) any {
	switch args[0].(type) {
	case nil:
		return "nil"
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "map"
	case time.Time:
		return "time"
	case time.Duration:
		return "duration"
	}
	return "unknown"
}

// itemAt returns the item at an index, which may count from the end. Values that are no
// lists have no items.
func itemAt(index int) operation {
	return func(_ *frame, args []any) any {
		list, _ := args[0].([]any)
		if i, ok := placeOf(index, len(list)); ok {
			return list[i]
		}
		return nil
	}
}

func get(f *frame, args []any) any {
	switch owner := args[0].(type) {
	case map[string]any:
		if key, ok := args[1].(string); ok {
			return owner[key]
		}
	case []any:
		if i, ok := whole(args[1]); ok {
			return itemAt(i)(f, args)
		}
	}
	return nil
}

func firstItems(_ *frame, args []any) any {
	items := args[0].([]any)
	n := min(max(args[1].(int), 0), len(items))
	return items[:n:n]
}

func reverse(f *frame, args []any) any {
	items := args[0].([]any)
	f.makeItems(len(items))
	reversed := slices.Clone(items)
	slices.Reverse(reversed)
	return reversed
}

// uniq finds equal items by a key: comparing all pairs would take too long.
func uniq(f *frame, args []any) any {
	items := args[0].([]any)
	f.makeObject(len(items))
	seen := make(map[any]bool, len(items))
	kept := []any{}
	for _, item := range items {
		key := f.identity(item)
		if !seen[key] {
			seen[key] = true
			kept = append(kept, item)
		}
	}
	return kept
}

// structure is the JSON of a list or object. It never equals a text.
type structure string

// identity returns a key that is the same for equal values.
func (f *frame) identity(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case string:
		f.read(len(v))
	case []any, map[string]any:
		return structure(f.asJSON(v))
	case time.Time:
		return v.UTC().Round(0)
	}
	return v
}

func concat(f *frame, args []any) any {
	total := 0
	for _, arg := range args {
		total += len(arg.([]any))
	}
	f.makeItems(total)
	joined := make([]any, 0, total)
	for _, arg := range args {
		joined = append(joined, arg.([]any)...)
	}
	return joined
}

func flatten(f *frame, args []any) any {
	flat := f.appendFlat([]any{}, args[0].([]any), 0)
	f.makeItems(len(flat))
	return flat
}

func (f *frame) appendFlat(flat, items []any, depth int) []any {
	checkDepth(depth)
	f.spend(len(items) + 1)
	for _, item := range items {
		if nested, ok := item.([]any); ok {
			flat = f.appendFlat(flat, nested, depth+1)
			continue
		}
		if flat = append(flat, item); len(flat) > value.MaxItems {
			f.makeItems(len(flat))
		}
	}
	return flat
}

func sortList(f *frame, args []any) any {
	items := args[0].([]any)
	f.makeItems(len(items))
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, f.ordering(optional(args, 1, "asc")))
	return sorted
}
