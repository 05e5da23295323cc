package expression

import (
	"encoding/json"
	"errors"
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

// plain converts a value that leaves the expression to JSON types, within the limits of
// values.
func (f *frame) plain(v any) (any, error) {
	v, _, err := f.weighed(v)
	return v, err
}

// last returns the value of a whole template, after the last report to Scope.Memory.
func (f *frame) last(v any) (any, error) {
	v, err := f.plain(v)
	if err == nil {
		err = f.tell()
	}
	return v, err
}

// weighed is plain with the weight of the value. It copies only values that have times or
// durations in them.
func (f *frame) weighed(v any) (plain any, weight value.Scale, err error) {
	if err = weight.Add(v); errors.Is(err, value.ErrForeign) {
		if v, err = f.converted(v, 0); err == nil {
			weight = value.Scale{}
			err = weight.Add(v)
		}
	}
	if err == nil {
		err = f.spend(weight.Items)
	}
	return v, weight, err
}

// converted returns a copy of a value in which times and durations are text.
func (f *frame) converted(v any, depth int) (any, error) {
	if depth > value.MaxDepth {
		return nil, value.TooDeep()
	}
	switch v := v.(type) {
	case nil, bool, int, string, json.Number:
		return v, nil
	case float64:
		return finite(v)
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	case []any:
		if err := f.makeItems(len(v)); err != nil {
			return nil, err
		}
		list := make([]any, len(v))
		for i, item := range v {
			var err error
			if list[i], err = f.converted(item, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		if err := f.makeObject(len(v)); err != nil {
			return nil, err
		}
		object := make(map[string]any, len(v))
		for name, field := range v {
			var err error
			if object[name], err = f.converted(field, depth+1); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return nil, fail("there is %s", describe(v))
}
