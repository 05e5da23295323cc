package webhook

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// A Setting is what there is to know about one setting of webhooks, apart from what it
// does. Its kind is the type of its field in sluice.Webhook, or in sluice.Trust.
type Setting struct {
	Name     string // of its parameter, and of its field in records, views and files
	Alias    string // of its parameter
	Doc      string // for the reference: one sentence
	Audit    string // see command.Param
	Names    string // see command.Param
	Enum     []string
	Min, Max int // of a number

	Least, Most time.Duration // of a duration; Most 0: Store.MaxKeep

	// For people: see command.Form.
	Label, Help, Hint string
	Choices           [][2]string
	Rows              int
	Required, Main    bool

	// Default is what files need not say, and what emptying restores; nil: nothing.
	Default any

	// Preset returns what the sender of the webhook has in place of the default, if it
	// answers so.
	Preset func(of sluice.ProviderView, answer string) string

	// Secret: it is shown only if it names stored secrets, and files must name them.
	Secret bool

	hidden bool   // only users who may see tokens see it, and files have no place for it
	inName bool   // files have it as their name
	auto   bool   // a duration that can be learned
	field  string // its name in the record, if that is another one

	// Further rules on a text or a list; the latter returns the list as it is stored.
	text func(text string) error
	list func(items []string) ([]string, error)

	kind    reflect.Type
	ofTrust bool
	stored  []int // index of its field in a sluice.Webhook, or in its sluice.Trust
	viewed  []int // index of its field in a sluice.WebhookView
}

// locate finds the fields of settings.
func locate(rows []Setting) []Setting {
	hook, demands, view := fieldsOf[sluice.Webhook](), fieldsOf[sluice.Trust](), fieldsOf[sluice.WebhookView]()
	for i := range rows {
		s := &rows[i]
		name := s.Name
		if s.field != "" {
			name = s.field
		}
		at, ok := hook[name]
		if !ok {
			at, s.ofTrust = demands[name], true
		}
		s.kind, s.stored, s.viewed = at.Type, at.Index, view[s.Name].Index
	}
	return rows
}

// fieldsOf returns the fields of a struct, by the names that they have in JSON.
func fieldsOf[T any]() map[string]reflect.StructField {
	fields := make(map[string]reflect.StructField)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f
	}
	return fields
}

// place returns the place of a name in an order, the end if it is not there.
func place(order, name string) int {
	names := strings.Fields(order)
	if at := slices.Index(names, name); at >= 0 {
		return at
	}
	return len(names)
}

// IsPeriod reports whether the setting is a duration.
func (s *Setting) IsPeriod() bool {
	return s.kind == reflect.TypeFor[time.Duration]() || s.kind == reflect.TypeFor[*time.Duration]()
}

// Unset returns the value that stands for none in files: "" of a text or duration, [] of
// a list, nil of a document.
func (s *Setting) Unset() any {
	switch {
	case s.Default != nil:
		return s.Default
	case s.kind.Kind() == reflect.Bool:
		return false
	case s.kind == reflect.TypeFor[[]string]():
		return []any{}
	case s.kind == reflect.TypeFor[json.RawMessage]():
		return nil
	}
	return ""
}

// Emptied returns the argument that removes what is stored.
func (s *Setting) Emptied() any {
	if unset := s.Unset(); unset != nil && !s.IsPeriod() {
		return unset
	}
	return ""
}

// param declares the parameter of webhook.put.
func (s *Setting) param() command.Param {
	p := command.Param{
		Name: s.Name, Alias: s.Alias, Doc: s.Doc, Enum: s.Enum, Audit: s.Audit, Names: s.Names, Type: s.typeName(),
		Form: command.Form{
			Label: s.Label, Help: s.Help, Hint: s.Hint, Choices: s.Choices, Rows: s.Rows,
			Required: s.Required, Main: s.Main, Secret: s.Secret, Place: place(formOrder, s.Name),
		},
	}
	if p.Type != "array" { // an empty text is an empty list
		p.Form.Emptied = fmt.Sprint(s.Emptied())
	}
	if s.Max > 0 {
		p.Min, p.Max = &s.Min, &s.Max
	}
	return p
}

// typeName returns the name that JSON Schema has for arguments.
func (s *Setting) typeName() string {
	switch s.kind.Kind() {
	case reflect.Int:
		return "integer"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		if s.kind == reflect.TypeFor[json.RawMessage]() {
			return ""
		}
		return "array"
	}
	return "string"
}

// read returns an argument as it is stored, nil for none.
func (s *Setting) read(given any, maxKeep time.Duration) (any, error) {
	text, isText := given.(string)
	list, isList := given.([]string)
	switch {
	case s.kind == reflect.TypeFor[json.RawMessage]():
		return document(s.Name, given)
	case isText && s.IsPeriod():
		return s.period(text, maxKeep)
	case isText && s.text != nil:
		return text, s.text(text)
	case isList && s.list != nil:
		list, err := s.list(list)
		return list, err
	case isList && len(list) == 0:
		return nil, nil
	}
	return given, nil
}

// period reads a duration, which may be auto.
func (s *Setting) period(text string, maxKeep time.Duration) (any, error) {
	switch {
	case text == "":
		return nil, nil
	case text == sluice.Auto && s.auto:
		return sluice.ExpectAuto, nil
	}
	most, example := s.Most, ", such as "+s.Hint
	if s.auto {
		example += ", or auto"
	}
	if most == 0 {
		most, example = maxKeep, ", which is --event-max-age of the server"
	}
	if d, err := time.ParseDuration(text); err == nil && d >= s.Least && d <= most {
		return d, nil
	}
	return nil, sluice.InvalidParameter(s.Name, "The parameter %s must be a duration from %s to %s%s.",
		s.Name, sluice.ShortDuration(s.Least), sluice.ShortDuration(most), example)
}

// document returns the JSON of a parameter that is a JSON value or its text; nil means
// that the stored one is removed.
func document(parameter string, given any) (json.RawMessage, error) {
	text, isText := given.(string)
	switch {
	case given == nil || isText && strings.TrimSpace(text) == "":
		return nil, nil
	case isText && json.Valid([]byte(text)):
		return json.RawMessage(text), nil
	case !isText:
		if made, err := value.Marshal(given); err == nil {
			return made, nil
		}
	}
	return nil, sluice.InvalidParameter(parameter, "The parameter %s must be JSON.", parameter)
}

// A change is a setting with the value that it gets.
type change struct {
	*Setting

	value any // nil: none
}

// apply makes the change in a *sluice.Webhook or, where the setting belongs there, in its
// *sluice.Trust.
func (c change) apply(to any) {
	field := reflect.ValueOf(to).Elem().FieldByIndex(c.stored)
	field.SetZero()
	if c.value == nil {
		return
	}
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	field.Set(reflect.ValueOf(c.value).Convert(field.Type()))
}
