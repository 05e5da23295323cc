package command

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"sluice"
)

// A Param is one parameter of a command, read from a field of its parameter
// struct and the field's tags:
//
//	json:"name"       its name
//	doc:"…"           what it means
//	required:"true"   it must be given
//	alias:"other"     another name that is accepted for it
//	enum:"a,b"        the values it may have
//	min:"1" max:"9"   the range of an integer
//	audit:"yes"       its value stands in the audit log; "last6": its last 6 characters
//
// A field is a string, an int or a bool, or a pointer to one: then nil means
// that it was not given. Or it is a list of strings, given as an array or
// separated by commas: again nil means not given.
type Param struct {
	Name     string
	Alias    string
	Doc      string
	Type     string // string, integer, boolean or array, as JSON Schema names them
	Required bool
	Enum     []string
	Min, Max *int

	audit string
	field int
}

// Text is an argument that arrived as text (a query or form value), to be
// parsed as the parameter's type.
type Text string

// An Arg is one named argument. Its value is Text, or a decoded JSON value
// with numbers as json.Number.
type Arg struct {
	Name  string
	Value any
}

// Args are the arguments of a call.
type Args []Arg

func paramsOf(command string, t reflect.Type) []Param {
	params := make([]Param, 0, t.NumField())
	for i := range t.NumField() {
		p, err := paramOf(t.Field(i))
		if err != nil {
			panic(fmt.Sprintf("command %s, field %s: %v", command, t.Field(i).Name, err))
		}
		p.field = i
		params = append(params, p)
	}
	return params
}

func paramOf(f reflect.StructField) (Param, error) {
	p := Param{
		Name:     f.Tag.Get("json"),
		Alias:    f.Tag.Get("alias"),
		Doc:      f.Tag.Get("doc"),
		Required: f.Tag.Get("required") == "true",
		audit:    f.Tag.Get("audit"),
	}
	if p.Name == "" || p.Doc == "" {
		return p, errors.New("needs the tags json and doc")
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		p.Enum = strings.Split(enum, ",")
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		p.Type = "array"
		if t.Elem().Kind() != reflect.String {
			return p, fmt.Errorf("has the unsupported type %s", f.Type)
		}
	case reflect.String:
		p.Type = "string"
	case reflect.Int:
		p.Type = "integer"
	case reflect.Bool:
		p.Type = "boolean"
	default:
		return p, fmt.Errorf("has the unsupported type %s", f.Type)
	}
	var err error
	if p.Min, err = bound(f.Tag.Get("min")); err != nil {
		return p, err
	}
	p.Max, err = bound(f.Tag.Get("max"))
	return p, err
}

func bound(tag string) (*int, error) {
	if tag == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(tag)
	return &n, err
}

// Wants says in words which values the parameter takes.
func (p Param) Wants() string {
	switch {
	case p.Enum != nil:
		return "one of " + strings.Join(p.Enum, ", ")
	case p.Type == "integer" && p.Min != nil && p.Max != nil:
		return fmt.Sprintf("an integer from %d to %d", *p.Min, *p.Max)
	case p.Type == "integer" && p.Min != nil:
		return fmt.Sprintf("an integer of at least %d", *p.Min)
	case p.Type == "integer":
		return "an integer"
	case p.Type == "boolean":
		return "true or false"
	case p.Type == "array":
		return "a list of strings"
	default:
		return "a string"
	}
}

func (p Param) invalid(code, format string, args ...any) error {
	e := sluice.Errorf(sluice.Invalid, code, "The parameter %s %s.", p.Name, fmt.Sprintf(format, args...))
	e.Parameter = p.Name
	return e
}

// quote shows what a caller sent, shortened and without control characters.
func quote(s string) string {
	const longest = 60
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return strconv.Quote(s)
}
