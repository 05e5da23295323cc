package pipeline

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"

	"sluice"
	"sluice/command"
)

// errForeign means that a value is none that JSON has.
var errForeign = errors.New("no value of JSON")

// A scale weighs values: about as many bytes as their JSON takes. It stops as
// soon as that is too much, since a value may hold another one many times.
type scale struct {
	limits *Limits
	size   int
}

func (s *scale) add(v any, depth int) error {
	const number = 8
	switch v := v.(type) {
	case nil, bool:
		s.size += len("null")
	case int:
		s.size += number
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errForeign
		}
		s.size += number
	case string:
		s.size += len(v) + len(`""`)
	case json.Number:
		s.size += len(v)
	case []any:
		return s.addList(v, depth)
	case map[string]any:
		return s.addObject(v, depth)
	default:
		return errForeign
	}
	if s.size > s.limits.Value {
		return tooLarge(s.limits.Value)
	}
	return nil
}

func (s *scale) addList(items []any, depth int) error {
	if err := s.enter(len(items), depth); err != nil {
		return err
	}
	for _, item := range items {
		if err := s.add(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *scale) addObject(fields map[string]any, depth int) error {
	if err := s.enter(len(fields), depth); err != nil {
		return err
	}
	for name, field := range fields {
		s.size += len(name) + len(`"":`)
		if err := s.add(field, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// enter weighs a list or object without what is in it.
func (s *scale) enter(count, depth int) error {
	if depth > maxNesting {
		return sluice.Errorf(sluice.TooLarge, "value-too-deep", "A value is nested more than %d levels deep.", maxNesting)
	}
	if count > s.limits.List {
		return sluice.Errorf(sluice.TooLarge, "list-too-long", "A list or object has %d items, at most %d are allowed.", count, s.limits.List)
	}
	s.size += len("[]") + count
	return nil
}

func tooLarge(limit int) error {
	return sluice.Errorf(sluice.TooLarge, "value-too-large", "A value is larger than %d bytes; work on a smaller part of it.", limit)
}

// normal gives what a command has returned as a value of JSON, with its size.
// Most are such values already.
func (l *Limits) normal(out any) (v any, size int, err error) {
	if page, ok := out.(command.Paged); ok {
		out, _ = page.Page()
	}
	s := scale{limits: l}
	if err := s.add(out, 0); !errors.Is(err, errForeign) {
		return out, s.size, err
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, 0, err
	}
	if len(data) > l.Value {
		return nil, 0, tooLarge(l.Value)
	}
	if v, err = sluice.DecodeJSON(data); err != nil {
		return nil, 0, err
	}
	s = scale{limits: l}
	err = s.add(v, 0)
	return v, s.size, err
}

// passedOn tells whether an output is the very body that went in, which need not
// be looked at again.
func passedOn(body, out any) bool {
	switch body := body.(type) {
	case []any:
		out, ok := out.([]any)
		return ok && len(out) == len(body) && len(out) > 0 && &out[0] == &body[0]
	case map[string]any:
		out, ok := out.(map[string]any)
		return ok && reflect.ValueOf(out).Pointer() == reflect.ValueOf(body).Pointer()
	}
	return false
}

// describe says in words what a value is.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		if v {
			return "true"
		}
		return "false"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}
