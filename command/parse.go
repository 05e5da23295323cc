package command

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

// Check returns an argument as the parameter's type, or why it does not take it.
func (p Param) Check(arg any) (parsed any, err error) {
	parsed, err = p.parse(arg)
	if err == nil && p.valid != nil {
		if fault := p.valid(parsed); fault != nil {
			err = p.invalid(sluice.CodeParameterInvalid, "%s", fault)
		}
	}
	return parsed, err
}

// parse returns the argument as the parameter's type, or as a type that
// converts to it.
func (p Param) parse(arg any) (parsed any, err error) {
	plain, ok := arg, false // a Text as a string
	if text, isText := arg.(Text); isText {
		plain = string(text)
	}
	switch p.Type {
	case "":
		return plain, nil
	case "array":
		parsed, ok = stringsOf(plain)
	case "object":
		parsed, ok = objectOf(arg)
	case "integer":
		if ok = p.Empty && plain == ""; !ok {
			parsed, ok, err = p.parseInteger(arg)
		}
	case "boolean":
		parsed, ok = boolOf(arg)
	case "string":
		parsed, ok = p.parseText(plain)
	}
	if !ok && err == nil {
		return nil, p.invalid(sluice.CodeParameterInvalid, "must be %s", p.Wants())
	}
	return parsed, err
}

func (p Param) parseInteger(arg any) (value any, ok bool, err error) {
	n, whole := intOf(arg)
	if whole && (p.Min != nil && n < *p.Min || p.Max != nil && n > *p.Max) {
		err = p.invalid(sluice.CodeParameterInvalid, "must be %s, not %d", p.Wants(), n)
	}
	return n, whole, err
}

// parseText returns what a text stands for. An empty one stands for no time.
func (p Param) parseText(arg any) (value any, ok bool) {
	text, ok := arg.(string)
	switch {
	case !ok || p.Enum != nil && !slices.Contains(p.Enum, text):
		return nil, false
	case p.Duration:
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= p.Shortest && (p.Longest == 0 || d <= p.Longest)
	case p.Time && text == "":
		return time.Time{}, true
	case p.Time:
		t, err := time.Parse(time.RFC3339, text)
		return t, err == nil
	}
	return text, true
}

func boolOf(arg any) (value, ok bool) {
	value = arg == true || arg == Text("true")
	return value, value || arg == false || arg == Text("false")
}

func intOf(arg any) (int, bool) {
	switch v := arg.(type) {
	case int:
		return v, true
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case json.Number, Text:
		n, err := strconv.Atoi(fmt.Sprint(v))
		return n, err == nil
	}
	return 0, false
}

// objectOf returns an object, which may be given as JSON text.
func objectOf(arg any) (object map[string]any, ok bool) {
	if text, isText := arg.(Text); isText {
		arg, _ = value.Decode(text) // nil if it is no JSON
	}
	object, ok = arg.(map[string]any)
	return object, ok
}

// stringsOf returns the items of a list, or of a text with commas; [] is an empty list.
func stringsOf(arg any) (items []string, ok bool) {
	items = []string{}
	switch v := arg.(type) {
	case string:
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.TrimSpace(item); item != "" && v != "[]" {
				items = append(items, item)
			}
		}
		return items, true
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			items = append(items, s)
		}
		return items, true
	}
	return nil, false
}
