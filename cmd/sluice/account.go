package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"go.yaml.in/yaml/v3"
)

// asSent are fields with user data, which is shown unchanged.
var asSent = []string{"body", "headers", "payload", "query", "schema", "signature", "source", "value", "vars"}

// A fact is a line about something.
type fact struct{ label, text string }

// facts writes lines with their labels in a column.
func (v *view) facts(w io.Writer, indent string, facts []fact) {
	width := 0
	for _, f := range facts {
		width = max(width, uniseg.StringWidth(f.label))
	}
	for _, f := range facts {
		pad := strings.Repeat(" ", width-uniseg.StringWidth(f.label)+gap)
		fmt.Fprintf(w, "%s%s%s%s\n", indent, paint(v.colour, faint, f.label), pad, f.text)
	}
}

// account writes an object: first the fields that fit in a line, then the others
// under headings.
func (v *view) account(w io.Writer, object *yaml.Node, indent string) error {
	var facts []fact
	var longer []int
	for i := 0; i+1 < len(object.Content); i += 2 {
		name, value := object.Content[i].Value, object.Content[i+1]
		switch {
		case isEmpty(value):
		case isLine(name, value):
			facts = append(facts, fact{titleOf(name), v.painted(name, v.whole(name, value))})
		default:
			longer = append(longer, i)
		}
	}
	v.facts(w, indent, facts)
	for _, i := range longer {
		name, value := object.Content[i].Value, object.Content[i+1]
		fmt.Fprintf(w, "\n%s%s\n", indent, paint(v.colour, bold, titleOf(name)))
		if err := v.section(w, name, value, indent+"  "); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) section(w io.Writer, name string, value *yaml.Node, indent string) error {
	switch {
	case slices.Contains(asSent, name) || value.Kind == yaml.ScalarNode || value.Kind == yaml.SequenceNode && !allObjects(value):
		return writeIndented(w, value, indent)
	case value.Kind == yaml.SequenceNode:
		return v.rows(w, value.Content, nil, indent)
	}
	return v.account(w, value, indent)
}

// writeIndented writes a value unchanged, except that it decodes a payload in base64
// that is text.
func writeIndented(w io.Writer, value *yaml.Node, indent string) error {
	text := value.Value
	if origin := textOf(value, "origin"); origin != "" && len(value.Content) == 2 {
		if decoded, err := base64.StdEncoding.DecodeString(origin); err == nil && utf8.Valid(decoded) {
			value, text = &yaml.Node{Kind: yaml.ScalarNode}, string(decoded)
		}
	}
	if value.Kind != yaml.ScalarNode {
		var page bytes.Buffer
		if err := encodeYAML(&page, value); err != nil {
			return err
		}
		text = page.String()
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, indent+printable(strings.TrimRight(line, "\n")))
	}
	return nil
}

func isEmpty(n *yaml.Node) bool {
	return n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "" || n.Kind != yaml.ScalarNode && len(n.Content) == 0
}

// isLine reports whether a value fits in a line.
func isLine(name string, n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		return !strings.Contains(n.Value, "\n")
	case yaml.SequenceNode:
		return !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
	}
	return fieldOf(n, "detail") != nil && !slices.Contains(asSent, name)
}
