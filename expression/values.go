package expression

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
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

// known gives a value of the types that expressions work on; the usual ones
// pass at once.
func (f *frame) known(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, int, float64, string, []any, map[string]any, json.Number, time.Time, time.Duration:
		return v, nil
	}
	return f.convert(reflect.ValueOf(v))
}

// convert takes other numbers, texts, lists and objects; what has only methods
// or fields is refused.
func (f *frame) convert(v reflect.Value) (any, error) {
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool(), nil
	case v.CanInt():
		return int(v.Int()), nil
	case v.CanUint() && v.Uint() <= math.MaxInt:
		return int(v.Uint()), nil
	case v.CanUint():
		return json.Number(strconv.FormatUint(v.Uint(), 10)), nil
	case v.CanFloat():
		return v.Float(), nil
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.Kind() == reflect.Slice:
		if err := f.makeItems(v.Len()); err != nil {
			return nil, err
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface()
		}
		return list, nil
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		if err := f.makeObject(v.Len()); err != nil {
			return nil, err
		}
		object := make(map[string]any, v.Len())
		for key, field := range v.Seq2() {
			object[key.String()] = field.Interface()
		}
		return object, nil
	}
	return nil, fail("there is %s", describe(v.Interface()))
}

// plain gives a value that leaves the expression: JSON types only, within the
// limits of values.
func (f *frame) plain(v any) (any, error) {
	v, _, err := f.weighed(v)
	return v, err
}

// weighed gives a value as plain does, with its weight. It copies only what has
// other types in it.
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

// converted gives a copy of a value that has JSON types only.
func (f *frame) converted(v any, depth int) (any, error) {
	if depth > value.MaxDepth {
		return nil, value.TooDeep()
	}
	v, err := f.known(v)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
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
			if object[name], err = f.converted(field, depth+1); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return v, nil
}
