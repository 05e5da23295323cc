package command

import (
	"reflect"
	"strings"
	"time"

	"sluice"
	"sluice/spelling"
)

// bind sets the fields of a parameter struct from arguments.
func bind(target reflect.Value, params []Param, args Args) error {
	given := make(Given, len(args))
	for _, arg := range args {
		p, err := find(params, arg.Name)
		if err != nil {
			return err
		}
		value, err := p.Check(arg.Value)
		if err != nil {
			return err
		}
		if before, twice := given[p.Name]; twice && !reflect.DeepEqual(before, value) {
			return p.invalid(sluice.CodeParameterConflict, "was given twice with different values; give it once")
		}
		given[p.Name] = value
	}
	for _, p := range params {
		value, ok := given[p.Name]
		if !ok {
			if p.Required {
				return p.invalid(sluice.CodeParameterMissing, "is required: %s%s", strings.TrimSuffix(p.Doc, "."),
					wholeBody(params, given))
			}
			continue
		}
		field := target.FieldByIndex(p.field)
		if field.Type() == reflect.TypeFor[Given]() {
			field.Set(reflect.ValueOf(given))
			continue
		}
		if value == nil {
			if field.Type() == reflect.TypeFor[*any]() {
				field.Set(reflect.ValueOf(new(any))) // null is a value there
			}
			continue
		}
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		field.Set(reflect.ValueOf(value).Convert(field.Type()))
	}
	return checkPeriod(given)
}

// wholeBody says where a missing parameter belongs, if it may be in a body that was
// taken whole as another parameter.
func wholeBody(params []Param, given Given) string {
	for _, p := range params {
		if _, ok := given[p.Name]; ok && p.Body == BodyOnly {
			return "; over HTTP it belongs in the query, since the body is the parameter " + p.Name
		}
	}
	return ""
}

// checkPeriod refuses the parameters from and to if the period ends before it begins.
func checkPeriod(given Given) error {
	from, _ := given["from"].(time.Time)
	to, _ := given["to"].(time.Time)
	if !to.IsZero() && to.Before(from) {
		return sluice.InvalidParameter("to", "The parameter to must not be before from.")
	}
	return nil
}

// Param returns the parameter of that name. The error for an unknown name suggests the closest one,
// of those that the caller takes beside them, too.
func (c Command) Param(name string, beside ...string) (Param, error) {
	return find(c.Params, name, beside...)
}

func find(params []Param, name string, beside ...string) (Param, error) {
	for _, p := range params {
		if p.answersTo(name) {
			return p, nil
		}
	}
	return Param{}, unknown(params, name, beside...)
}

// BodyParam returns the parameter that is the body of a call, always or by
// default.
func (c Command) BodyParam() (Param, bool) {
	for _, p := range c.Params {
		if p.Body != "" {
			return p, true
		}
	}
	return Param{}, false
}

// answersTo reports whether a name is the parameter's name or its alias.
func (p Param) answersTo(name string) bool { return name == p.Name || p.Alias != "" && name == p.Alias }

func unknown(params []Param, name string, beside ...string) error {
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	takes := "it takes no parameters"
	if len(names) > 0 {
		takes = "it takes " + strings.Join(names, ", ")
	}
	return sluice.CodeParameterUnknown.Errorf("This command has no parameter %s; %s", sluice.Quote(name),
		spelling.Hint(name, append(names, beside...), takes)).About(name)
}

// Flag reads a boolean, for endpoints that parse their query themselves. If it
// is not given or empty, it is false.
func Flag(name, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	value, err := Param{Name: name, Type: "boolean"}.parse(Text(text))
	return value == true, err
}

// MalformedQuery is the error for the query of a URL that can't be parsed.
func MalformedQuery() error {
	return sluice.CodeQueryMalformed.Errorf(
		"The query of the URL is malformed; percent-encode what is not a letter or digit.")
}
