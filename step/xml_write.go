package step

import (
	"bytes"
	"encoding/xml"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/value"
)

// An xmlWriter writes one document.
type xmlWriter struct{ text bytes.Buffer }

// toXML writes what fromXML reads: an object with one outermost element. Elements are
// sorted by name, and a list becomes a repeated element.
func toXML(input any) (any, error) {
	if err := weigh(input); err != nil {
		return nil, err
	}
	object, ok := input.(map[string]any)
	if !ok || len(object) != 1 {
		return nil, invalid("input", "must be an object with one field, the outermost element; it is %s",
			value.Describe(input))
	}
	w := &xmlWriter{}
	for name, content := range object {
		if _, isList := content.([]any); isList {
			return nil, invalid("input", "must have one outermost element, not a list of them")
		}
		if err := w.element(name, content); err != nil {
			return nil, err
		}
	}
	return w.text.String(), nil
}

const xmlNameStart = `:A-Z_a-z\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{2ff}\x{370}-\x{37d}\x{37f}-\x{1fff}\x{200c}` +
	`\x{200d}\x{2070}-\x{218f}\x{2c00}-\x{2fef}\x{3001}-\x{d7ff}\x{f900}-\x{fdcf}\x{fdf0}-\x{fffd}\x{10000}-\x{effff}`

// element writes an element, or several for a list.
func (w *xmlWriter) element(name string, content any) error {
	if !xmlNames.MatchString(name) {
		return invalid("input", "has a field whose name is none for an element")
	}
	if items, isList := content.([]any); isList {
		for _, item := range items {
			if _, nested := item.([]any); nested {
				return invalid("input", "has a list in a list, which no element can stand for")
			}
			if err := w.element(name, item); err != nil {
				return err
			}
		}
		return nil
	}
	w.text.WriteString("<" + name)
	var err error
	if fields, ok := content.(map[string]any); ok {
		err = w.fields(fields)
	} else {
		w.text.WriteByte('>')
		err = w.escaped(content)
	}
	w.text.WriteString("</" + name + ">")
	if w.text.Len() > value.MaxSize {
		return value.TooLarge(value.MaxSize)
	}
	return err
}

// fields writes the attributes, the text and the elements of an element.
func (w *xmlWriter) fields(fields map[string]any) error {
	names := slices.Sorted(maps.Keys(fields))
	for _, name := range names {
		attribute, isAttribute := strings.CutPrefix(name, xmlAttribute)
		if !isAttribute {
			continue
		}
		if !xmlNames.MatchString(attribute) {
			return invalid("input", "has a field whose name is none for an attribute")
		}
		w.text.WriteString(" " + attribute + `="`)
		if err := w.escaped(fields[name]); err != nil {
			return err
		}
		w.text.WriteByte('"')
	}
	w.text.WriteByte('>')
	if err := w.escaped(fields[xmlText]); err != nil {
		return err
	}
	for _, name := range names {
		if name == xmlText || strings.HasPrefix(name, xmlAttribute) {
			continue
		}
		if err := w.element(name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// escaped writes the text of an element or an attribute.
func (w *xmlWriter) escaped(content any) error {
	switch content.(type) {
	case []any, map[string]any:
		return invalid("input", "has %s where an attribute or #text needs text", value.Describe(content))
	}
	text, err := cellOf(content)
	if err != nil {
		return err
	}
	if !utf8.ValidString(text) || !xmlChars.MatchString(text) {
		return invalid("input", "has a control character, which XML can't carry")
	}
	return xml.EscapeText(&w.text, []byte(text))
}
