package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"
)

// writeTable writes a document for people: a list of objects as rows, one object
// as lines, anything else as it is.
func writeTable(w io.Writer, document []byte, columns []string, colour bool) error {
	root, err := parseJSON(document)
	if err != nil {
		return err
	}
	if items := fieldOf(root, "items"); items != nil && items.Kind == yaml.SequenceNode {
		root = items
	}
	switch {
	case root.Kind == yaml.SequenceNode && len(root.Content) == 0:
		_, err = fmt.Fprintln(w, "none")
	case root.Kind == yaml.SequenceNode && allObjects(root):
		err = writeRows(w, root.Content, columns, colour)
	case root.Kind == yaml.MappingNode && len(root.Content) > 0 && !nested(root):
		err = writeFields(w, root)
	case root.Kind == yaml.ScalarNode:
		_, err = fmt.Fprintln(w, lines(root.Value))
	default:
		err = writeYAML(w, document)
	}
	return err
}

// lines gives a text of several lines without what a terminal would obey.
func lines(text string) string {
	shown := strings.Split(text, "\n")
	for i, line := range shown {
		shown[i] = printable(line)
	}
	return strings.Join(shown, "\n")
}

func allObjects(list *yaml.Node) bool {
	return !slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Kind != yaml.MappingNode })
}

// nested tells whether an object needs more than a line for a field.
func nested(object *yaml.Node) bool {
	return slices.ContainsFunc(object.Content, func(n *yaml.Node) bool {
		return n.Kind == yaml.MappingNode && len(n.Content) > 0 || strings.Contains(n.Value, "\n") ||
			n.Kind == yaml.SequenceNode && slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
	})
}

func fieldOf(object *yaml.Node, name string) *yaml.Node {
	if object.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			return object.Content[i+1]
		}
	}
	return nil
}

func writeFields(w io.Writer, object *yaml.Node) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(object.Content); i += 2 {
		fmt.Fprintf(table, "%s\t%s\n", printable(object.Content[i].Value), cell(object.Content[i+1]))
	}
	return table.Flush()
}

func writeRows(w io.Writer, rows []*yaml.Node, columns []string, colour bool) error {
	if len(columns) == 0 {
		columns = columnsOf(rows)
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, name := range columns {
			if value := fieldOf(row, name); value != nil {
				cells[i] = cell(value)
			}
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	head, rest, _ := strings.Cut(text.String(), "\n")
	_, err := fmt.Fprintf(w, "%s\n%s", paint(colour, bold, strings.TrimRight(head, " ")), trimRight(rest))
	return err
}

// columnsOf gives the fields that any row has, in the order of their appearance.
func columnsOf(rows []*yaml.Node) []string {
	var columns []string
	for _, row := range rows {
		for i := 0; i+1 < len(row.Content); i += 2 {
			if name := row.Content[i].Value; !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

// cell gives a value in one line.
func cell(n *yaml.Node) string {
	const longest = 160
	text := n.Value
	switch {
	case n.Tag == "!!null":
		text = ""
	case n.Kind == yaml.SequenceNode:
		text = strings.Join(parts(n), ", ")
	case n.Kind == yaml.MappingNode:
		text = "{" + strings.Join(parts(n), ", ") + "}"
	}
	if shown := []rune(text); len(shown) > longest {
		text = string(shown[:longest]) + "…"
	}
	return strings.ReplaceAll(printable(text), "\t", " ")
}

// parts gives the items of a list, or the fields of an object, in one line each.
func parts(n *yaml.Node) []string {
	var all []string
	for i := 0; i < len(n.Content); i++ {
		part := cell(n.Content[i])
		if n.Kind == yaml.MappingNode {
			i++
			part += ": " + cell(n.Content[i])
		}
		all = append(all, part)
	}
	return all
}

func trimRight(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// Colours, as terminals know them.
const (
	bold  = "1"
	red   = "31"
	green = "32"
	faint = "2"
)

// paint gives a text in a colour, if colours are wanted.
func paint(wanted bool, colour, text string) string {
	if !wanted || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
