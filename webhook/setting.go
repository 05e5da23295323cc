package webhook

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// A Setting is what there is to know about one setting of webhooks, apart from what it
// does: a row of settings.yaml. Its kind is the type of its field in sluice.Webhook, or in
// sluice.Trust.
type Setting struct {
	command.Param `yaml:",inline"` // of webhook.put, and its field in records, views and files

	Wants       string        // what a text must be, in words
	Length      int           // of a text, in bytes; 0: any
	Least, Most time.Duration // of a duration; Most 0: Store.MaxKeep
	Auto        bool          // a duration that can be learned
	Default     any           // what files need not say, and what emptying restores; nil: nothing

	// OfSender: the sender of a webhook has a value of its own in place of the default, which
	// provider.get shows under the same name; Usual is that of webhooks without a sender. It
	// counts only while the setting With is as the sender has it, too.
	OfSender bool `yaml:"ofSender"`
	Usual    any
	With     string

	Hidden bool   // only users who may see tokens see it, and files have no place for it
	InName bool   `yaml:"inName"` // files have it as their name
	Field  string // its name in the record, if that is another one

	kind    reflect.Type
	ofTrust bool
	stored  []int // index of its field in a sluice.Webhook, or in its sluice.Trust
	viewed  []int // index of its field in a sluice.WebhookView
}

//go:embed settings.yaml
var rows []byte

// settings has the rows.
var settings = sync.OnceValue(func() (all []*Setting) {
	dec := yaml.NewDecoder(bytes.NewReader(rows))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		panic(err) // a mistake in the program
	}
	hook, demands, view := fieldsOf[sluice.Webhook](), fieldsOf[sluice.Trust](), fieldsOf[sluice.WebhookView]()
	for _, s := range all {
		name := cmp.Or(s.Field, s.Name)
		at, ok := hook[name]
		if !ok {
			at, s.ofTrust = demands[name], true
		}
		s.kind, s.stored, s.viewed = at.Type, at.Index, view[s.Name].Index
		s.Form.Place = place(formOrder, s.Name)
		if s.Type = s.typeName(); s.Type != "array" { // an empty text is an empty list
			s.Form.Emptied = fmt.Sprint(s.Emptied())
		}
	}
	return all
})

// fieldsOf returns the fields of a struct, by the names that they have in JSON.
func fieldsOf[T any]() map[string]reflect.StructField {
	fields := make(map[string]reflect.StructField)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f
	}
	return fields
}

// Forms and files have some settings in an order of their own. Others come last.
const (
	formOrder = "provider eventKey signingSecret verifyToken description payloadType maxPayloadLength multipart " +
		"dedupe dedupeWindow eventType split rate expectEvery keep redact apiUrl apiSecret missedEvery checkEvery " +
		"schema signature methods"
	fileOrder = "description disabled payloadType maxPayloadLength multipart provider signature signingSecret " +
		"dedupe dedupeWindow eventType split schema rate expectEvery apiUrl apiSecret missedEvery checkEvery " +
		"redact keep methods answer answerType answerWait"
)

// place returns the place of a name in an order, the end if it is not there.
func place(order, name string) int {
	names := strings.Fields(order)
	if at := slices.Index(names, name); at >= 0 {
		return at
	}
	return len(names)
}

// FileSettings returns the settings that files have, in the order of files.
func FileSettings() []*Setting {
	all := slices.DeleteFunc(slices.Clone(settings()), func(s *Setting) bool { return s.Hidden || s.InName })
	slices.SortStableFunc(all, func(a, b *Setting) int { return place(fileOrder, a.Name) - place(fileOrder, b.Name) })
	return all
}

// IsPeriod reports whether the setting is a duration.
func (s *Setting) IsPeriod() bool {
	return s.kind == reflect.TypeFor[time.Duration]() || s.kind == reflect.TypeFor[*time.Duration]()
}

func (s *Setting) isDocument() bool { return s.kind == reflect.TypeFor[json.RawMessage]() }

// typeName returns the name that JSON Schema has for arguments.
func (s *Setting) typeName() string {
	if s.isDocument() {
		return ""
	}
	switch s.kind.Kind() {
	case reflect.Slice:
		return "array"
	case reflect.Int:
		return "integer"
	case reflect.Bool:
		return "boolean"
	}
	return "string"
}

// Unset returns the value that stands for none in files: "" of a text or duration, [] of
// a list, nil of a document.
func (s *Setting) Unset() any {
	switch {
	case s.Default != nil:
		return s.Default
	case s.Empty:
		return s.Usual
	case s.Type == "boolean":
		return false
	case s.Type == "array":
		return []any{}
	case s.isDocument():
		return nil
	}
	return ""
}

// Emptied returns the argument that removes what is stored.
func (s *Setting) Emptied() any {
	if unset := s.Unset(); unset != nil && !s.IsPeriod() && !s.Empty {
		return unset
	}
	return ""
}

// read returns an argument as it is stored, nil for none.
func (s *Setting) read(given any, maxKeep time.Duration) (any, error) {
	text, isText := given.(string)
	list, isList := given.([]string)
	switch {
	case s.isDocument():
		return document(s.Name, given)
	case isText && s.IsPeriod():
		return s.period(text, maxKeep)
	case isText:
		return text, s.check(text)
	case isList && lists[s.Name] != nil:
		return lists[s.Name](list)
	case isList && len(list) == 0:
		return nil, nil
	}
	return given, nil
}

// check refuses a text that is not what the setting wants.
func (s *Setting) check(text string) error {
	fits, choices := texts[s.Name], s.Form.Choices
	chosen := func(choice [2]string) bool { return choice[0] == text }
	if s.Length > 0 && len(text) > s.Length || fits != nil && !fits(text) ||
		choices != nil && !slices.ContainsFunc(choices, chosen) {
		return sluice.InvalidParameter(s.Name, "The parameter %s must be %s.", s.Name, s.Wants)
	}
	return nil
}

// period reads a duration, which may be auto.
func (s *Setting) period(text string, maxKeep time.Duration) (any, error) {
	switch {
	case text == "":
		return nil, nil
	case text == sluice.Auto && s.Auto:
		return sluice.ExpectAuto, nil
	}
	most, example := s.Most, ", such as "+s.Form.Hint
	if s.Auto {
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
