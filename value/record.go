package value

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// AppendRecord appends the JSON of the struct that a pointer leads to, as encoding/json would
// write it, but without escapes for HTML, with times in UTC, and with [] and {} for lists and
// objects that are nil. The tag written names a member that takes the place of another field.
// How a type is written is worked out once: every call writes records.
func AppendRecord(b []byte, record any) []byte {
	v := reflect.ValueOf(record).Elem()
	return appendMembers(b, v, membersOf(v.Type()))
}

// An Appender writes its own JSON.
type Appender interface{ AppendJSON(b []byte) []byte }

// A writer appends the JSON of values of one type.
type writer func(b []byte, v reflect.Value) []byte

// A member is a field of a struct.
type member struct {
	index    []int
	name     string // as JSON, with what stands around it
	optional bool
	write    writer
}

var records sync.Map // members of structs by their types

func membersOf(t reflect.Type) []member {
	if known, ok := records.Load(t); ok {
		return known.([]member)
	}
	var all []member
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if written := f.Tag.Get("written"); written != "" {
			name, options = written, "omitempty"
		}
		switch {
		case f.Anonymous:
			for _, m := range membersOf(f.Type) {
				m.index = append(slices.Clone(f.Index), m.index...)
				all = append(all, m)
			}
		case name != "-" && f.IsExported():
			all = append(all, member{f.Index, `,"` + name + `":`, strings.HasPrefix(options, "omit"), writerOf(f.Type)})
		}
	}
	records.Store(t, all)
	return all
}

func appendMembers(b []byte, v reflect.Value, members []member) []byte {
	start := len(b)
	for _, m := range members {
		if field := v.FieldByIndex(m.index); !m.optional || !isEmpty(field) {
			b = m.write(append(b, m.name...), field)
		}
	}
	if len(b) == start {
		return append(b, "{}"...)
	}
	b[start] = '{'
	return append(b, '}')
}

func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

func writerOf(t reflect.Type) writer {
	pointer := reflect.PointerTo(t)
	switch {
	case t == timeType:
		return appendTime
	case t == rawType:
		return appendRaw
	case pointer.Implements(reflect.TypeFor[Appender]()):
		return func(b []byte, v reflect.Value) []byte { return v.Addr().Interface().(Appender).AppendJSON(b) }
	case pointer.Implements(reflect.TypeFor[json.Marshaler]()),
		pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return appendStandard
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Uint64, reflect.Float64:
		return appendScalar
	case reflect.Struct:
		return func(b []byte, v reflect.Value) []byte { return appendMembers(b, v, membersOf(t)) }
	case reflect.Pointer:
		write := writerOf(t.Elem())
		return func(b []byte, v reflect.Value) []byte { return write(b, v.Elem()) }
	case reflect.Slice:
		return listWriter(writerOf(t.Elem()))
	case reflect.Map:
		return objectWriter(writerOf(t.Elem()))
	}
	return appendStandard
}

// appendScalar appends a text, a number, or whether something holds.
func appendScalar(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return AppendString(b, v.String())
	case reflect.Int:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	default:
		return strconv.AppendFloat(b, v.Float(), 'f', -1, 64)
	}
}

func listWriter(write writer) writer {
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = write(b, v.Index(i))
		}
		return append(b, ']')
	}
}

func objectWriter(write writer) writer {
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '{')
		names := v.MapKeys()
		slices.SortFunc(names, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = write(append(AppendString(b, name.String()), ':'), v.MapIndex(name))
		}
		return append(b, '}')
	}
}

func appendTime(b []byte, v reflect.Value) []byte {
	at := v.Addr().Interface().(*time.Time)
	return append(at.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// appendRaw appends JSON as it is.
func appendRaw(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, "null"...)
	}
	return append(b, v.Bytes()...)
}

// appendStandard leaves what is rare to encoding/json.
func appendStandard(b []byte, v reflect.Value) []byte {
	text := bytes.NewBuffer(b)
	if err := Encode(text, v.Interface()); err != nil {
		panic(err) // none of our values
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
