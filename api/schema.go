package api

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"strings"
	"time"

	"sluice"
	"sluice/command"
)

// paramSchema returns the JSON Schema of a parameter.
func paramSchema(p command.Param) object {
	schema := object{}
	if p.Type != "" {
		schema["type"] = p.Type
	}
	if p.Type == "array" {
		schema["items"] = object{"type": "string"}
	}
	if p.Time {
		schema["format"] = "date-time"
	}
	if p.Enum != nil {
		schema["enum"] = p.Enum
	}
	if p.Min != nil {
		schema["minimum"] = *p.Min
	}
	if p.Max != nil {
		schema["maximum"] = *p.Max
	}
	return schema
}

// schemas are the JSON Schemas of what encoding/json makes of types. Structs
// have names, under which others refer to them.
type schemas struct {
	named object
	types map[string]reflect.Type
}

// of returns the schema of a type, or a reference to it.
func (s *schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[sluice.Period]():
		return object{"type": "string"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.structure(t)
	case reflect.Slice:
		return s.list(t)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		return object{"type": "string"}
	default:
		return object{}
	}
}

// structure returns a reference to the schema of a struct, or the schema itself
// if the struct has no name of its own.
func (s *schemas) structure(t reflect.Type) object {
	if t.Name() == "" || strings.Contains(t.Name(), "[") { // a List of them
		return s.fields(t)
	}
	name := s.name(t)
	if s.named[name] == nil {
		s.named[name] = object{} // it may contain itself
		s.named[name] = s.fields(t)
	}
	return ref(name)
}

// list returns the schema of a list. Lists of views have a name, so that
// programs can tell them from one of their items.
func (s *schemas) list(t reflect.Type) object {
	schema := object{"type": "array", "items": s.of(t.Elem())}
	if !isView(t.Elem()) {
		return schema
	}
	name := s.name(t.Elem()) + "List"
	s.named[name] = schema
	return ref(name)
}

// isView reports whether a type shows one of the things that commands are about:
// its name ends with view.
func isView(t reflect.Type) bool { return strings.HasSuffix(strings.ToLower(t.Name()), "view") }

// name returns the name of a struct for programs. A view has the name of the thing that
// it shows: iam.userView is User. Other types have the name of their package before their
// own: event.sent is EventSent. Types of the root package have their own names.
func (s *schemas) name(t reflect.Type) string {
	pkg := title(path.Base(t.PkgPath()))
	own := title(t.Name())
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

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// fields returns the schema of a struct. Tags say what a field means (doc), which values
// it has (enum), and that answers have it where records may not (always).
func (s *schemas) fields(t reflect.Type) object {
	properties := object{}
	var required []string
	for f := range t.Fields() {
		if f.Anonymous {
			embedded := s.fields(f.Type)
			maps.Copy(properties, embedded["properties"].(object))
			inner, _ := embedded["required"].([]string)
			required = append(required, inner...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		doc := f.Tag.Get("doc")
		if name == "-" || doc == "-" {
			continue // answers never have it
		}
		schema := s.of(f.Type)
		if doc != "" {
			schema["description"] = doc
		}
		if values := command.Enum(f); values != nil {
			schema["enum"] = values
		}
		properties[name] = schema
		if !strings.HasPrefix(options, "omit") || f.Tag.Get("always") == "yes" {
			required = append(required, name)
		}
	}
	return objectSchema(properties, required)
}

// objectSchema returns the schema of an object with these members.
func objectSchema(properties object, required []string) object {
	schema := object{"type": "object", "properties": properties}
	if required != nil {
		schema["required"] = required
	}
	return schema
}
