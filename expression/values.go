package expression

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// describe names the type of a value, never the value: it may be a secret.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int, float64:
		return "a number"
	case json.Number:
		return "a number too large to compute with"
	case string:
		return "a text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case time.Time:
		return "a time"
	case time.Duration:
		return "a duration"
	}
	return "a value of an unknown type"
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
		for key, value := range v.Seq2() {
			object[key.String()] = value.Interface()
		}
		return object, nil
	}
	return nil, fail("there is %s", describe(v.Interface()))
}

// plain gives a value that leaves the expression: JSON types only, no more text
// than MaxValue. It copies only where something has to change.
func (f *frame) plain(v any) (any, error) {
	p := plainer{frame: f}
	v, _, err := p.value(v, 0)
	return v, err
}

type plainer struct {
	*frame
	size int
}

// grow counts what the value would take as JSON, at the least: a list that holds
// the same list many times is small here and huge for whoever gets it.
func (p *plainer) grow(bytes int) error {
	p.size += bytes
	if p.size > MaxValue {
		return fail("a value is larger than %d MiB", MaxValue>>20)
	}
	return nil
}

// enter counts a list or object with that many items.
func (p *plainer) enter(items int) error {
	if err := p.grow(1); err != nil {
		return err
	}
	return p.spend(items)
}

func (p *plainer) value(v any, depth int) (plain any, changed bool, err error) {
	if depth > MaxDepth {
		return nil, false, tooDeep()
	}
	switch typed := v.(type) {
	case nil, bool, int:
		return v, false, p.grow(1)
	case string:
		return v, false, p.grow(len(typed))
	case json.Number:
		return v, false, p.grow(len(typed))
	case float64:
		_, err := finite(typed)
		return v, false, err
	case []any:
		if copied, err := p.list(typed, depth); copied != nil || err != nil {
			return copied, true, err
		}
		return v, false, nil
	case map[string]any:
		if copied, err := p.object(typed, depth); copied != nil || err != nil {
			return copied, true, err
		}
		return v, false, nil
	case time.Time:
		return typed.Format(time.RFC3339Nano), true, nil
	case time.Duration:
		return typed.String(), true, nil
	}
	if v, err = p.known(v); err != nil {
		return nil, false, err
	}
	plain, _, err = p.value(v, depth)
	return plain, true, err
}

// list gives a copy of the list if anything in it has to change, else nil.
func (p *plainer) list(list []any, depth int) (copied []any, err error) {
	if err := p.enter(len(list)); err != nil {
		return nil, err
	}
	for i, item := range list {
		plain, changed, err := p.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if copied == nil {
			if err := p.makeItems(len(list)); err != nil {
				return nil, err
			}
			copied = slices.Clone(list)
		}
		copied[i] = plain
	}
	return copied, nil
}

// object gives a copy of the object if anything in it has to change, else nil.
func (p *plainer) object(object map[string]any, depth int) (copied map[string]any, err error) {
	if err := p.enter(len(object)); err != nil {
		return nil, err
	}
	for key, item := range object {
		if err := p.grow(len(key)); err != nil {
			return nil, err
		}
		plain, changed, err := p.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if copied == nil {
			if err := p.makeObject(len(object)); err != nil {
				return nil, err
			}
			copied = maps.Clone(object)
		}
		copied[key] = plain
	}
	return copied, nil
}

func tooDeep() error {
	return fail("lists and objects are nested more than %d deep", MaxDepth)
}
