package command

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"sluice"
)

// shapeDepth is how deep the shape of an answer is written out.
const shapeDepth = 3

// gives says what a command answers with: its members in their order with their types, those that
// may be missing with a question mark.
func (c Command) gives() string {
	var shapes []string
	for i, t := range c.Results {
		shape := shapeOf(t, shapeDepth)
		switch {
		case c.Download:
			return "Gives a file."
		case i > 0 && c.Results[0].Kind() == reflect.Slice && c.Results[0].Elem() == t:
			shapes = append(shapes, "one of these")
		case shape != anyValue:
			shapes = append(shapes, "`"+shape+"`")
		}
	}
	if len(shapes) == 0 {
		return ""
	}
	return "Gives " + strings.Join(shapes, ", or ") + "."
}

const anyValue = "any"

// shapeOf writes what encoding/json makes of a type.
func shapeOf(t reflect.Type, depth int) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[sluice.Period]():
		return "duration"
	case reflect.TypeFor[json.RawMessage]():
		return anyValue
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), depth)
	case reflect.Slice:
		return "[" + shapeOf(t.Elem(), depth) + ", …]"
	case reflect.Map:
		return "{name: " + shapeOf(t.Elem(), depth-1) + ", …}"
	case reflect.Struct:
		if depth == 0 {
			return "{…}"
		}
		return "{" + strings.Join(members(t, depth), ", ") + "}"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "string"
	}
	return anyValue
}

// members returns the members of a struct, with those of the structs in it.
func members(t reflect.Type, depth int) (all []string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			all = append(all, members(f.Type, depth)...)
		case name == "-" || name == "" || f.Tag.Get("doc") == "-": // answers never have it
		case strings.HasPrefix(options, "omit") && f.Tag.Get("always") != "yes":
			all = append(all, name+"?: "+shapeOf(f.Type, depth-1))
		default:
			all = append(all, name+": "+shapeOf(f.Type, depth-1))
		}
	}
	return all
}
