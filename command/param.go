package command

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
)

// A Param is one parameter of a command, read from a field of its parameter
// struct and the field's tags:
//
//	json:"name"       its name
//	doc:"…"           what it means
//	required:"true"   it must be given
//	or:"other"        a step has either it or that one
//	alias:"other"     another name that is accepted for it
//	enum:"a,b"        the values it may have; a type can name them with a method Enum
//	min:"1" max:"9"   the range of an integer
//	min:"1s" max:"9h" the range of a duration
//	audit:"yes"       its value is in the audit log; "last6": its last 6 characters
//	names:"pipeline"  it names a pipeline, secret, event (by its key or a pattern), message
//	                  or webhook (by its token), which scopes are about; "new event":
//	                  one that the call makes; "listed": one of the things that
//	                  sluice.CoverFrom covers
//	fixed:"true"      in a run that an event has started it can't be computed: the
//	                  sender of the event must not choose it
//	literal:"*"       a step has it written out in the source, without expressions;
//	                  "name": the field of that name in each object that it has
//	body:"only"       it is the body of the call, and can't be given by name
//	body:"default"    in a pipeline it is the body unless it is given
//	after:"other"     it is listed after that one
//
// A field has one of these types:
//   - a string, an int, a bool or a time.Duration, or a pointer to one: nil if it was
//     not given;
//   - a time.Time: zero if it was not given;
//   - a list of strings, given as an array or separated by commas, or an object: nil if
//     it was not given;
//   - any, which takes every value, or a pointer to it: nil if it was not given, while
//     null is a value.
type Param struct {
	Name     string
	Alias    string
	Doc      string
	Type     string // string, integer, boolean, array or object, as JSON Schema names them; "" means any
	Duration bool   // it is a string such as 2s
	Shortest time.Duration
	Longest  time.Duration // 0: any
	Time     bool          // it is a string such as 2030-01-31T12:00:00Z
	Required bool
	Or       string
	Fixed    bool
	Literal  string
	Enum     []string
	Min, Max *int
	Empty    bool // an integer that an empty text removes
	Body     BodyUse
	Audit    string
	Names    string
	Form     Form

	field []int // where it is in the struct
	valid func(value any) error
}

// A Form says how a page for people asks for a parameter. Pages that know nothing of it
// make do with the rest of the Param.
type Form struct {
	Label, Help, Hint string
	Choices           [][2]string // values and their labels
	Rows              int         // of an input for long texts
	Required          bool
	Main              bool // most people need it
	Secret            bool // it is never shown again; left empty it stays as it is
	Place             int  // among the fields

	// Emptied is what is sent if people have emptied the field.
	Emptied string
}

// Given has all arguments of a call by name. A parameter struct with a field of this type
// has a method Rows, which declares further parameters there.
type Given map[string]any

// rows is a parameter struct with a field of type Given.
type rows interface{ Rows() []Param }

// BodyUse says what a parameter has to do with the body of a call.
type BodyUse string

// The uses of the body.
const (
	BodyOnly    BodyUse = "only"    // the parameter is the body
	bodyDefault BodyUse = "default" // in a pipeline it is the body unless it is given
)

// Text is an argument that arrived as text (a query or form value), to be
// parsed as the parameter's type.
type Text string

// An Arg is one named argument. Its value is Text, or a decoded JSON value;
// a number is an int, a float64 or a json.Number.
type Arg struct {
	Name  string
	Value any
}

// Args are the arguments of a call.
type Args []Arg

func paramsOf(command string, t reflect.Type) (params []Param) {
	for f := range t.Fields() {
		switch {
		case f.Type == reflect.TypeFor[Given]():
			for _, p := range reflect.New(t).Interface().(rows).Rows() {
				p.field = f.Index
				params = append(params, p)
			}
			continue
		case f.Anonymous:
			words := strings.NewReplacer("{things}", f.Tag.Get("things"), "{by}", f.Tag.Get("by"))
			for _, p := range paramsOf(command, f.Type) {
				p.Doc, p.field = words.Replace(p.Doc), append(slices.Clone(f.Index), p.field...)
				params = append(params, p)
			}
			continue
		}
		p, err := paramOf(f)
		if err != nil {
			panic(fmt.Sprintf("command %s, field %s: %v", command, f.Name, err))
		}
		p.field = f.Index
		at := len(params)
		if other := f.Tag.Get("after"); other != "" {
			at = 1 + slices.IndexFunc(params, func(p Param) bool { return p.Name == other })
		}
		params = slices.Insert(params, at, p)
	}
	return params
}

func paramOf(f reflect.StructField) (Param, error) {
	tag := f.Tag.Get
	p := Param{
		Name:     tag("json"),
		Alias:    tag("alias"),
		Doc:      tag("doc"),
		Required: tag("required") == "true",
		Or:       tag("or"),
		Fixed:    tag("fixed") == "true",
		Literal:  tag("literal"),
		Body:     BodyUse(tag("body")),
		Audit:    tag("audit"),
		Names:    tag("names"),
		Enum:     Enum(f),
	}
	if p.Name == "" || p.Doc == "" {
		return p, errors.New("needs the tags json and doc")
	}
	var err error
	if p.Type, err = typeName(f.Type); err != nil {
		return p, err
	}
	p.Duration = indirect(f.Type) == reflect.TypeFor[time.Duration]()
	p.Time = f.Type == reflect.TypeFor[time.Time]()
	if longest := tag("max"); p.Duration && longest != "" {
		p.Shortest, _ = time.ParseDuration(tag("min"))
		p.Longest, err = time.ParseDuration(longest)
		return p, err
	}
	if p.Min, err = bound(tag("min")); err != nil {
		return p, err
	}
	p.Max, err = bound(tag("max"))
	return p, err
}

// Enum returns the values that a field may have, by its tag or its type; nil if it may have any.
func Enum(f reflect.StructField) []string {
	if of, ok := reflect.TypeAssert[interface{ Enum() []string }](reflect.Zero(f.Type)); ok {
		return of.Enum()
	}
	if values := f.Tag.Get("enum"); values != "" {
		return strings.Split(values, ",")
	}
	return nil
}

// typeName returns the name that JSON Schema has for values of a field.
func typeName(field reflect.Type) (string, error) {
	t := indirect(field)
	switch {
	case t == reflect.TypeFor[time.Duration](), t == reflect.TypeFor[time.Time](), t.Kind() == reflect.String:
		return "string", nil
	case t.Kind() == reflect.Int:
		return "integer", nil
	case t.Kind() == reflect.Bool:
		return "boolean", nil
	case t == reflect.TypeFor[[]string]():
		return "array", nil
	case t == reflect.TypeFor[map[string]any]():
		return "object", nil
	case t == reflect.TypeFor[any]():
		return "", nil
	}
	return "", fmt.Errorf("has the unsupported type %s", field)
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func bound(tag string) (*int, error) {
	if tag == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(tag)
	return &n, err
}

// Wants returns in words which values the parameter takes.
func (p Param) Wants() string {
	switch {
	case p.Enum != nil:
		return "one of " + strings.Join(p.Enum, ", ")
	case p.Type == "integer" && p.Min != nil && p.Max != nil:
		return fmt.Sprintf("an integer from %d to %d", *p.Min, *p.Max)
	case p.Type == "integer" && p.Min != nil:
		return fmt.Sprintf("an integer of at least %d", *p.Min)
	case p.Time:
		return "a time such as 2030-01-31T12:00:00Z"
	case p.Longest > 0:
		return fmt.Sprintf("a duration from %s to %s, such as 2s", sluice.ShortDuration(p.Shortest),
			sluice.ShortDuration(p.Longest))
	case p.Duration:
		return "a duration such as 2s or 5m"
	}
	return anyOf[p.Type]
}

// anyOf names all values of a type.
var anyOf = map[string]string{
	"": "any value", "array": "a list of strings", "boolean": "true or false", "integer": "an integer",
	"object": "an object", "string": "a string",
}

func (p Param) invalid(code sluice.Code, format string, args ...any) error {
	return code.Errorf("The parameter %s %s.", p.Name, fmt.Sprintf(format, args...)).About(p.Name)
}
