package step

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"sluice"
	"sluice/value"
)

const (
	xmlAttribute = "@"     // before the name of an attribute
	xmlText      = "#text" // the text of an element that has more than text
	xmlSpace     = " \t\r\n"
)

type fromXMLParams struct {
	Input any      `json:"input" body:"default" doc:"The XML to read."`
	Lists []string `json:"lists" doc:"Elements that are a list however often they occur: names (item), or paths from the outermost element on (order.item)."`
}

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
	lists   []string      // names and paths of elements that are always lists
	open    []*xmlElement // the first one stands for the document itself
	values  int
}

// fromXML reads a document as an object: an element is its text, or an object of its
// attributes, elements and text. Names keep their prefix. Documents that declare entities
// are rejected.
func fromXML(input any, lists []string) (any, error) {
	text, err := textIn(input, value.MaxSize, "XML", "<")
	if err != nil {
		return nil, err
	}
	r := &xmlReader{
		decoder: xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))), open: []*xmlElement{{}},
		lists: lists,
	}
	// the text is decoded already
	r.decoder.CharsetReader = func(_ string, decoded io.Reader) (io.Reader, error) { return decoded, nil }
	for {
		token, err := r.decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return r.end()
		}
		if err != nil {
			err = r.fault(err)
		} else {
			err = r.read(token)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *xmlReader) read(token xml.Token) error {
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
		outer, inner := r.open[len(r.open)-2], current.value()
		if outer.fields[current.name] == nil && slices.ContainsFunc(r.lists, r.inList) {
			inner = []any{inner}
		}
		r.open = r.open[:len(r.open)-1]
		outer.add(current.name, inner)
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

// inList reports whether a name or path of a list is that of the current element.
func (r *xmlReader) inList(list string) bool {
	path := strings.Split(list, ".")
	return list == r.open[len(r.open)-1].name || slices.EqualFunc(path, r.open[1:],
		func(name string, e *xmlElement) bool { return name == e.name })
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
	return r.invalid("it can't be read")
}

func (r *xmlReader) invalid(why string) error {
	line, column := r.decoder.InputPos()
	return sluice.CodeXMLInvalid.Errorf("This XML is not taken: line %d, column %d: %s.", line, column, why)
}

// xmlName returns a name as it is written, with its prefix.
func xmlName(name xml.Name) string {
	if name.Space != "" {
		return name.Space + ":" + name.Local
	}
	return name.Local
}

var (
	// xmlNames and xmlChars are the names and the texts of XML 1.0.
	xmlNames = regexp.MustCompile(
		`^[` + xmlNameStart + `][` + xmlNameStart + `\-.0-9\x{b7}\x{300}-\x{36f}\x{203f}\x{2040}]*$`)
	xmlChars = regexp.MustCompile(`^[\t\n\r\x20-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}]*$`)
)
