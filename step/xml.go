package step

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

const (
	xmlAttribute = "@"     // before the name of an attribute
	xmlText      = "#text" // the text of an element that has more than text
	xmlSpace     = " \t\r\n"
)

// An xmlElement is an open element.
type xmlElement struct {
	name   string
	fields map[string]any // attributes and elements; nil if there are none
	nested bool           // there are elements within
	text   []byte
}

// value returns an object, or text for an element that has nothing else.
func (e *xmlElement) value() any {
	text := string(e.text)
	if e.fields == nil {
		return text
	}
	if e.nested {
		text = strings.Trim(text, xmlSpace) // between elements it is layout
	}
	if text != "" {
		e.fields[xmlText] = text
	}
	return e.fields
}

func (e *xmlElement) add(name string, v any) {
	if e.fields == nil {
		e.fields = map[string]any{}
	}
	addField(e.fields, name, v)
}

// An xmlReader reads one document, without recursion.
type xmlReader struct {
	decoder *xml.Decoder
	open    []*xmlElement // the first one stands for the document itself
	values  int
}

// fromXML reads a document as an object: an element is its text, or an object of its
// attributes, elements and text. Names keep their prefix. Documents that declare entities
// are rejected.
func fromXML(input any) (any, error) {
	text, err := textOf(input, value.MaxSize)
	if err != nil {
		return nil, err
	}
	if err := refuseBase64(text, "XML", "<"); err != nil {
		return nil, err
	}
	r := &xmlReader{decoder: xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))), open: []*xmlElement{{}}}
	r.decoder.CharsetReader = func(_ string, decoded io.Reader) (io.Reader, error) { return decoded, nil } // the text is decoded already
	for {
		token, err := r.decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return r.end()
		}
		if err == nil {
			err = r.take(token)
		}
		if err != nil {
			return nil, r.fault(err)
		}
	}
}

func (r *xmlReader) take(token xml.Token) error {
	current := r.open[len(r.open)-1]
	switch token := token.(type) {
	case xml.StartElement:
		if len(r.open) == 1 && current.nested {
			return r.invalid("a document has one outermost element only")
		}
		return r.start(token)
	case xml.EndElement:
		if len(r.open) == 1 || current.name != xmlName(token.Name) {
			return r.invalid("an element ends that is not the one that began last")
		}
		r.open = r.open[:len(r.open)-1]
		outer := r.open[len(r.open)-1]
		outer.add(current.name, current.value())
		outer.nested = true
	case xml.CharData:
		if len(r.open) == 1 && strings.Trim(string(token), xmlSpace) != "" {
			return r.invalid("there is text outside of the outermost element")
		}
		current.text = append(current.text, token...)
	case xml.Directive:
		return r.invalid("document types and entities are not taken")
	}
	return nil
}

func (r *xmlReader) start(token xml.StartElement) error {
	if len(r.open) > value.MaxDepth {
		return value.TooDeep()
	}
	if r.values += 1 + len(token.Attr); r.values > value.MaxValues {
		return value.TooManyValues()
	}
	element := &xmlElement{name: xmlName(token.Name)}
	for _, attribute := range token.Attr {
		name := xmlAttribute + xmlName(attribute.Name)
		if _, twice := element.fields[name]; twice {
			return r.invalid("an element has an attribute twice")
		}
		element.add(name, attribute.Value)
	}
	r.open = append(r.open, element)
	return nil
}

func (r *xmlReader) end() (any, error) {
	if len(r.open) > 1 {
		return nil, r.invalid("it ends too early")
	}
	if !r.open[0].nested {
		return nil, r.invalid("there is no element")
	}
	return r.open[0].fields, weigh(r.open[0].fields)
}

// fault returns an error of the parser with its position.
func (r *xmlReader) fault(err error) error {
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return r.invalid(syntax.Msg)
	}
	if _, ok := errors.AsType[*sluice.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*value.Error](err); ok {
		return err
	}
	return r.invalid("it can't be read")
}

func (r *xmlReader) invalid(why string) error {
	line, column := r.decoder.InputPos()
	return sluice.Errorf(sluice.CodeXMLInvalid, "This XML is not taken: line %d, column %d: %s.", line, column, why)
}

// xmlName returns a name as it is written, with its prefix.
func xmlName(name xml.Name) string {
	if name.Space != "" {
		return name.Space + ":" + name.Local
	}
	return name.Local
}

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
		return nil, invalid("input", "must be an object with one field, the outermost element; it is %s", value.Describe(input))
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

var (
	// xmlNames and xmlChars are the names and the texts of XML 1.0.
	xmlNames = regexp.MustCompile(`^[` + xmlNameStart + `][` + xmlNameStart + `\-.0-9\x{b7}\x{300}-\x{36f}\x{203f}\x{2040}]*$`)
	xmlChars = regexp.MustCompile(`^[\t\n\r\x20-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}]*$`)
)

const xmlNameStart = `:A-Z_a-z\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{2ff}\x{370}-\x{37d}\x{37f}-\x{1fff}\x{200c}\x{200d}\x{2070}-\x{218f}\x{2c00}-\x{2fef}\x{3001}-\x{d7ff}\x{f900}-\x{fdcf}\x{fdf0}-\x{fffd}\x{10000}-\x{effff}`

// element writes an element, or several for a list.
func (w *xmlWriter) element(name string, content any) error {
	if !xmlNames.MatchString(name) {
		return invalid("input", "has a field whose name is none for an element")
	}
	if items, isList := content.([]any); isList {
		for _, item := range items {
			if _, again := item.([]any); again {
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
