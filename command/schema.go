package command

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"time"

	"sluice"
)

// Schema is a JSON Schema, or a part of one.
type Schema = map[string]any

// Schemas are the JSON Schemas of what encoding/json makes of types. Structs
// have names, under which others refer to them.
type Schemas struct {
	Named Schema
	types map[string]reflect.Type
}

// NewSchemas returns schemas without any.
func NewSchemas() *Schemas {
	return &Schemas{Schema{}, make(map[string]reflect.Type)}
}

// refPrefix is what a reference to a schema begins with.
const refPrefix = "#/components/schemas/"

// Ref refers to a schema by its name.
func Ref(name string) Schema { return Schema{"$ref": refPrefix + name} }

// Of returns the schema of a type, or a reference to it.
func (s *Schemas) Of(t reflect.Type) Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[sluice.Period](): // a text such as 1h
		return Schema{"type": "string"}
	case reflect.TypeFor[json.RawMessage]():
		return Schema{}
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.structure(t)
	case reflect.Slice:
		return s.list(t)
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": s.Of(t.Elem())}
	case reflect.Pointer:
		return s.Of(t.Elem())
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		return Schema{"type": "string"}
	default:
		return Schema{}
	}
}

// structure returns a reference to the schema of a struct, or the schema itself
// if the struct has no name of its own.
func (s *Schemas) structure(t reflect.Type) Schema {
	if !isNamed(t) {
		return s.fields(t)
	}
	name := s.name(t)
	if s.Named[name] == nil {
		s.Named[name] = Schema{} // it may contain itself
		s.Named[name] = s.fields(t)
	}
	return Ref(name)
}

// isNamed reports whether a struct has a name for programs; a List of some has none.
func isNamed(t reflect.Type) bool { return t.Name() != "" && !strings.Contains(t.Name(), "[") }

// list returns the schema of a list. Lists of views have a name, so that
// programs can tell them from one of their items.
func (s *Schemas) list(t reflect.Type) Schema {
	schema := Schema{"type": "array", "items": s.Of(t.Elem())}
	if !isView(t.Elem()) {
		return schema
	}
	name := s.name(t.Elem()) + "List"
	s.Named[name] = schema
	return Ref(name)
}

// isView reports whether a type shows one of the things that commands are about:
// its name ends with view.
func isView(t reflect.Type) bool { return strings.HasSuffix(strings.ToLower(t.Name()), "view") }

// name returns the name of a struct for programs. A view has the name of the thing that
// it shows: iam.userView is User. Other types have the name of their package before their
// own: event.sent is EventSent. Types of the root package have their own names.
func (s *Schemas) name(t reflect.Type) string {
	pkg := Capital(path.Base(t.PkgPath()))
	own := Capital(t.Name())
	name := pkg + own
	switch {
	case t.Name() == "view":
		name = pkg
	case isView(t):
		name = strings.TrimSuffix(own, "View")
	case t.PkgPath() == "sluice":
		name = own
	}
	if other := s.types[name]; other != nil && other != t {
		name = pkg + own
	}
	s.types[name] = t
	return name
}

// Capital returns a word with a capital at its beginning.
func Capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// A member is a field of an answer. Its tags say what it means (doc), which values it has (enum),
// and that answers have it where records may not (always).
type member struct {
	reflect.StructField

	name, doc string
	optional  bool
}

// members returns the fields of a struct, with those of the structs in it.
func members(t reflect.Type) (all []member) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		m := member{
			f, name, f.Tag.Get("doc"), strings.HasPrefix(options, "omit") && f.Tag.Get("always") != "yes",
		}
		switch {
		case f.Anonymous:
			all = append(all, members(f.Type)...)
		case m.name != "-" && m.doc != "-": // answers have none of those
			all = append(all, m)
		}
	}
	return all
}

// fields returns the schema of a struct.
func (s *Schemas) fields(t reflect.Type) Schema {
	properties := Schema{}
	var required []string
	for _, m := range members(t) {
		properties[m.name] = s.member(m)
		if !m.optional {
			required = append(required, m.name)
		}
	}
	return ObjectSchema(properties, required)
}

// member returns the schema of a field.
func (s *Schemas) member(m member) Schema {
	schema := s.Of(m.Type)
	if m.doc != "" {
		schema["description"] = m.doc
	}
	if values := Enum(m.StructField); values != nil {
		schema["enum"] = values
	}
	return schema
}

// ObjectSchema returns the schema of an object with these members.
func ObjectSchema(properties Schema, required []string) Schema {
	schema := Schema{"type": "object", "properties": properties}
	if required != nil {
		schema["required"] = required
	}
	return schema
}
