package command

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice"
)

// bind sets the fields of a parameter struct from arguments.
func bind(target reflect.Value, params []Param, args Args) error {
	given := make(map[int]any, len(args))
	for _, arg := range args {
		p, ok := find(params, arg.Name)
		if !ok {
			return unknown(params, arg.Name)
		}
		value, err := p.parse(arg.Value)
		if err != nil {
			return err
		}
		if before, twice := given[p.field]; twice && !reflect.DeepEqual(before, value) {
			return p.invalid("parameter-conflict", "was given twice with different values; give it once")
		}
		given[p.field] = value
	}
	for _, p := range params {
		value, ok := given[p.field]
		if !ok {
			if p.Required {
				return p.invalid("parameter-missing", "is required: %s", p.Doc)
			}
			continue
		}
		field := target.Field(p.field)
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		field.Set(reflect.ValueOf(value).Convert(field.Type()))
	}
	return nil
}

func find(params []Param, name string) (Param, bool) {
	for _, p := range params {
		if p.answersTo(name) {
			return p, true
		}
	}
	return Param{}, false
}

// answersTo tells whether a name is the parameter's, or the other one it has.
func (p Param) answersTo(name string) bool {
	return name == p.Name || p.Alias != "" && name == p.Alias
}

func unknown(params []Param, name string) error {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	hint := "it takes no parameters"
	if near := sluice.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	} else if len(names) > 0 {
		hint = "it takes " + strings.Join(names, ", ")
	}
	e := sluice.Errorf(sluice.Invalid, "parameter-unknown", "This command has no parameter %s; %s", quote(name), hint)
	e.Parameter = name
	return e
}

// parse gives the argument as a string, int, bool or list of strings.
func (p Param) parse(arg any) (any, error) {
	text, isText := arg.(Text)
	switch p.Type {
	case "array":
		if items, ok := stringsOf(arg); ok {
			return items, nil
		}
	case "integer":
		number, isNumber := arg.(json.Number)
		if !isText && !isNumber {
			break
		}
		n, err := strconv.Atoi(string(text) + string(number))
		if err != nil {
			break
		}
		if p.Min != nil && n < *p.Min || p.Max != nil && n > *p.Max {
			return nil, p.invalid("parameter-invalid", "must be %s, not %d", p.Wants(), n)
		}
		return n, nil
	case "boolean":
		if b, ok := arg.(bool); ok {
			return b, nil
		}
		switch text {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	case "string":
		s, ok := arg.(string)
		if isText {
			s, ok = string(text), true
		}
		if !ok || !p.allows(s) {
			break
		}
		return s, nil
	}
	return nil, p.invalid("parameter-invalid", "must be %s", p.Wants())
}

// Flag reads a boolean, for endpoints that take their query apart themselves.
// Not given, or empty, is false.
func Flag(name, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	value, err := Param{Name: name, Type: "boolean"}.parse(Text(text))
	if err != nil {
		return false, err
	}
	return value == true, nil
}

// stringsOf gives the items of a list, or of a text with commas.
func stringsOf(arg any) (items []string, ok bool) {
	items = []string{}
	switch v := arg.(type) {
	case Text:
		return splitList(string(v)), true
	case string:
		return splitList(v), true
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

func splitList(s string) []string {
	items := []string{}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func (p Param) allows(s string) bool {
	return p.Enum == nil || slices.Contains(p.Enum, s)
}
