package view

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sluice/difference"
	"sluice/wording"
)

// Parse returns a JSON document as a tree in which fields keep their order
// and numbers their digits.
func Parse(document []byte) (*yaml.Node, error) {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	return parseValue(dec)
}

func parseValue(dec *json.Decoder) (*yaml.Node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if v == '[' {
			n.Kind = yaml.SequenceNode
		}
		for dec.More() {
			item, err := parseValue(dec) // in an object, keys and values alternate
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, item)
		}
		_, err := dec.Token()
		return n, err
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// WriteYAML writes a document as YAML.
func WriteYAML(text *bytes.Buffer, root *yaml.Node) {
	enc := yaml.NewEncoder(text)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(root), enc.Close()); err != nil {
		panic(err) // what was parsed can be written
	}
}

// WriteJSON writes a document in one line for programs, over several for people.
func WriteJSON(w io.Writer, document []byte, indent bool) error {
	var text bytes.Buffer
	var err error
	if indent {
		err = json.Indent(&text, bytes.TrimSpace(document), "", "  ")
	} else {
		err = json.Compact(&text, document)
	}
	if err != nil {
		return err
	}
	text.WriteByte('\n')
	_, err = w.Write(wording.Escaped(text.Bytes()))
	return err
}

// Lines does what Printable does, and keeps the line ends.
func Lines(text string) string {
	shown := strings.Split(text, "\n")
	for i, line := range shown {
		shown[i] = Printable(line)
	}
	return strings.Join(shown, "\n")
}

// Diff returns how two texts differ, line by line, with a few unchanged lines around
// each change.
func Diff(name, before, after string, colour bool) string {
	var b strings.Builder
	title := "changed"
	switch {
	case before == "":
		title = "new"
	case after == "":
		title = "deleted"
	}
	fmt.Fprintf(&b, "%s\n", Paint(colour, Bold, Printable(name)+" ("+title+")"))
	colours := map[byte]string{'-': Red, '+': Green}
	for _, e := range difference.Lines(before, after) {
		fmt.Fprintln(&b, Paint(colour, colours[e.Sign], string(e.Sign)+" "+Printable(e.Line)))
	}
	return b.String()
}

// AllObjects reports whether a value is a list of nothing but objects.
func AllObjects(list *yaml.Node) bool {
	return list.Kind == yaml.SequenceNode &&
		!slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Kind != yaml.MappingNode })
}

// Items returns the list that a document is, or has as a page of one. It is nil for
// other documents.
func Items(document *yaml.Node) *yaml.Node {
	if items := Field(document, "items"); items != nil {
		document = items
	}
	if document.Kind != yaml.SequenceNode {
		return nil
	}
	return document
}

// Field returns the value of a field, nil if there is no such field or no object.
func Field(object *yaml.Node, name string) *yaml.Node {
	if object == nil || object.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			return object.Content[i+1]
		}
	}
	return nil
}

// DropField removes a field from an object.
func DropField(object *yaml.Node, name string) {
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			object.Content = slices.Delete(object.Content, i, i+2)
			return
		}
	}
}

// List returns the items of a field, nil if there are none.
func List(object *yaml.Node, name string) []*yaml.Node {
	if n := Field(object, name); n != nil && n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return nil
}

// TextOf returns the text in a field, "" if there is none.
func TextOf(object *yaml.Node, name string) string {
	if n := Field(object, name); n != nil && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}

// WriteIndented writes a value unchanged, except that it decodes a payload in base64
// that is text.
func WriteIndented(w io.Writer, value *yaml.Node, indent string) {
	text := value.Value
	if origin := TextOf(value, "origin"); origin != "" && len(value.Content) == 2 {
		if decoded, err := base64.StdEncoding.DecodeString(origin); err == nil && utf8.Valid(decoded) {
			value, text = &yaml.Node{Kind: yaml.ScalarNode}, string(decoded)
		}
	}
	if value.Kind != yaml.ScalarNode {
		var page bytes.Buffer
		WriteYAML(&page, value)
		text = page.String()
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, indent+Printable(strings.TrimRight(line, "\n")))
	}
}

// Printable escapes everything in a text that a terminal would obey.
func Printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
