package expression

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"sluice/value"
)

var (
	oneAny    = []kind{anyKind}
	oneList   = []kind{listKind}
	oneObject = []kind{objectKind}
)

// listFunctions has the functions that work on lists and objects.
var listFunctions = map[string]function{
	"len":       {usage: "len(value): how many items, members or characters it has", kinds: oneAny, run: length},
	"type":      {usage: "type(value): nil, bool, int, float, string, array or map", kinds: oneAny, run: typeName},
	"first":     {usage: "first(list): its first item, or nil", kinds: oneAny, run: end(func(list []any) any { return list[0] })},
	"last":      {usage: "last(list): its last item, or nil", kinds: oneAny, run: end(func(list []any) any { return list[len(list)-1] })},
	"get":       {usage: "get(value, key): the member or item, or nil", kinds: []kind{anyKind, anyKind}, run: get},
	"take":      {usage: "take(list, n): its first n items", kinds: []kind{listKind, integerKind}, run: take},
	"keys":      {usage: "keys(object): the names of its members, in order", kinds: oneObject, run: members(func(key string, _ any) any { return key })},
	"values":    {usage: "values(object): the values of its members, in the order of their names", kinds: oneObject, run: members(func(_ string, value any) any { return value })},
	"toPairs":   {usage: "toPairs(object): a list of [name, value], in the order of the names", kinds: oneObject, run: members(func(key string, value any) any { return []any{key, value} })},
	"fromPairs": {usage: "fromPairs(list): the object that has these [name, value]", kinds: oneList, run: fromPairs},
	"reverse":   {usage: "reverse(list): the items from last to first", kinds: oneList, run: reverse},
	"uniq":      {usage: "uniq(list): each item once", kinds: oneList, run: uniq},
	"concat":    {usage: "concat(list, …): the items of all the lists", kinds: oneList, many: true, run: concat},
	"flatten":   {usage: "flatten(list): the items of the lists within it, however deep", kinds: oneList, run: flatten},
	"sort":      {usage: "sort(list[, \"asc\" or \"desc\"]): its numbers or texts in order", kinds: []kind{listKind, textKind}, needed: 1, run: sortList},
}

func length(f *frame, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return utf8.RuneCountInString(v), f.read(len(v))
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	}
	return nil, fail("len needs text, a list or an object, not %s", describe(args[0]))
}

func typeName(_ *frame, args []any) (any, error) {
	switch args[0].(type) {
	case nil:
		return "nil", nil
	case bool:
		return "bool", nil
	case int:
		return "int", nil
	case float64:
		return "float", nil
	case json.Number:
		return "number", nil
	case string:
		return "string", nil
	case []any:
		return "array", nil
	case map[string]any:
		return "map", nil
	case time.Time:
		return "time", nil
	case time.Duration:
		return "duration", nil
	}
	return "unknown", nil
}

// end picks the first or last item of a list; other values have none.
func end(pick func(list []any) any) func(f *frame, args []any) (any, error) {
	return func(_ *frame, args []any) (any, error) {
		list, _ := args[0].([]any)
		if len(list) == 0 {
			return nil, nil
		}
		return pick(list), nil
	}
}

func get(_ *frame, args []any) (any, error) {
	switch owner := args[0].(type) {
	case map[string]any:
		if key, ok := args[1].(string); ok {
			return owner[key], nil
		}
	case []any:
		i, ok := whole(args[1])
		if i < 0 {
			i += len(owner)
		}
		if ok && i >= 0 && i < len(owner) {
			return owner[i], nil
		}
	}
	return nil, nil
}

func take(_ *frame, args []any) (any, error) {
	items := args[0].([]any)
	n := min(max(args[1].(int), 0), len(items))
	return items[:n:n], nil
}

func members(give func(key string, value any) any) func(f *frame, args []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		object := args[0].(map[string]any)
		if err := cmp.Or(f.makeItems(len(object)), f.allocate(64*len(object))); err != nil {
			return nil, err
		}
		keys, err := f.sortedKeys(object)
		if err != nil {
			return nil, err
		}
		list := make([]any, len(keys))
		for i, key := range keys {
			list[i] = give(key, object[key])
		}
		return list, nil
	}
}

func fromPairs(f *frame, args []any) (any, error) {
	items := args[0].([]any)
	if err := f.makeObject(len(items)); err != nil {
		return nil, err
	}
	object := make(map[string]any, len(items))
	for _, item := range items {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, fail("fromPairs needs lists of two items, [name, value]")
		}
		key, ok := pair[0].(string)
		if !ok {
			return nil, fail("fromPairs needs texts as names, not %s", describe(pair[0]))
		}
		if err := f.read(len(key)); err != nil {
			return nil, err
		}
		object[key] = pair[1]
	}
	return object, nil
}

func reverse(f *frame, args []any) (any, error) {
	items := args[0].([]any)
	if err := f.makeItems(len(items)); err != nil {
		return nil, err
	}
	reversed := slices.Clone(items)
	slices.Reverse(reversed)
	return reversed, nil
}

// uniq finds equal items by a key: comparing all pairs would take too long.
func uniq(f *frame, args []any) (any, error) {
	items := args[0].([]any)
	if err := f.makeObject(len(items)); err != nil {
		return nil, err
	}
	seen := make(map[any]struct{}, len(items))
	kept := []any{}
	for _, item := range items {
		key, err := f.identity(item)
		if err != nil {
			return nil, err
		}
		if _, ok := seen[key]; !ok {
			seen[key] = struct{}{}
			kept = append(kept, item)
		}
	}
	return kept, nil
}

// structure is the JSON of a list or object. It never equals a text.
type structure string

// identity returns a key that is the same for equal values.
func (f *frame) identity(v any) (any, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case string:
		return v, f.read(len(v))
	case []any, map[string]any:
		text, err := f.json(v)
		return structure(text), err
	case time.Time:
		return v.UTC().Round(0), nil
	}
	return v, nil
}

func concat(f *frame, args []any) (any, error) {
	total := 0
	for _, arg := range args {
		total += len(arg.([]any))
	}
	if err := f.makeItems(total); err != nil {
		return nil, err
	}
	joined := make([]any, 0, total)
	for _, arg := range args {
		joined = append(joined, arg.([]any)...)
	}
	return joined, nil
}

func flatten(f *frame, args []any) (any, error) { return f.appendFlat([]any{}, args[0].([]any), 0) }

func (f *frame) appendFlat(flat, items []any, depth int) ([]any, error) {
	if depth > value.MaxDepth {
		return nil, value.TooDeep()
	}
	if err := f.spend(len(items) + 1); err != nil {
		return nil, err
	}
	for _, item := range items {
		var err error
		if nested, ok := item.([]any); ok {
			flat, err = f.appendFlat(flat, nested, depth+1)
		} else {
			flat = append(flat, item)
			if len(flat) > value.MaxItems {
				err = f.makeItems(len(flat))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if depth == 0 {
		return flat, f.makeItems(len(flat))
	}
	return flat, nil
}

func sortList(f *frame, args []any) (any, error) {
	items, order := args[0].([]any), any("asc")
	if len(args) == 2 {
		order = args[1]
	}
	if err := f.makeItems(len(items)); err != nil {
		return nil, err
	}
	compare, failed, err := f.ordering(order)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, compare)
	return sorted, failed()
}

func sortBy(l *loop) (any, error) {
	order := l.extra
	if !l.hasExtra {
		order = "asc"
	}
	if err := l.makeItems(len(l.items)); err != nil {
		return nil, err
	}
	type pair struct{ item, key any }
	pairs := make([]pair, len(l.items))
	for i, item := range l.items {
		key, err := l.value(i)
		if err != nil {
			return nil, err
		}
		pairs[i] = pair{item, key}
	}
	compare, failed, err := l.ordering(order)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return compare(a.key, b.key) })
	if err := l.makeItems(len(pairs)); err != nil {
		return nil, err
	}
	list := make([]any, len(pairs))
	for i := range pairs {
		list[i] = pairs[i].item
	}
	return list, failed()
}

// ordering returns a comparison for sorting. Sorting can't be stopped, so after the first
// failure all items count as equal, and failed returns the failure.
func (f *frame) ordering(order any) (compare func(a, b any) int, failed func() error, err error) {
	if order != "asc" && order != "desc" {
		return nil, nil, fail(`the order is "asc" or "desc"`)
	}
	var first error
	return func(a, b any) int {
			if first != nil {
				return 0
			}
			result, err := f.compare(a, b)
			if err == errOperands { //nolint:errorlint // ours, never wrapped
				err = fail("%s and %s have no order", describe(a), describe(b))
			}
			if err == nil {
				err = f.spend(1)
			}
			first = err
			if order == "desc" {
				return -result
			}
			return result
		}, func() error {
			return first
		}, nil
}
