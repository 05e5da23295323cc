package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"time"

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

func schemaOf[T any]() object { return schemaFor(reflect.TypeFor[T]()) }

// schemaFor returns the JSON Schema of what encoding/json makes of a type.
func schemaFor(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Struct:
		return structSchema(t)
	case reflect.Slice:
		return object{"type": "array", "items": schemaFor(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaFor(t.Elem())}
	case reflect.Pointer:
		return schemaFor(t.Elem())
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

func structSchema(t reflect.Type) object {
	properties := object{}
	var required []string
	for f := range t.Fields() {
		if f.Anonymous {
			embedded := structSchema(f.Type)
			maps.Copy(properties, embedded["properties"].(object))
			required = append(required, embedded["required"].([]string)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Tag.Get("doc") == "-" {
			continue // answers never have it
		}
		properties[name] = schemaFor(f.Type)
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}
