package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"go.yaml.in/yaml/v3"

	"sluice"
)

// A column is one of a list.
type column struct {
	title string
	field string
	of    func(row *yaml.Node) string // in place of a field
	whole bool                        // it is cut last, since people copy from it
}

// columnsOf returns a column for each field. The first one names the row.
func columnsOf(fields ...string) []column {
	columns := make([]column, len(fields))
	for i, field := range fields {
		columns[i] = column{titleOf(field), field, nil, i == 0 || field == "traceId" || field == "eventKey" || field == "uuid"}
	}
	return columns
}

// fieldsIn returns the fields of all rows, in the order in which they appear.
func fieldsIn(rows []*yaml.Node) []string {
	var fields []string
	for _, row := range rows {
		for i := 0; i+1 < len(row.Content); i += 2 {
			if name := row.Content[i].Value; !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
	}
	return fields
}

func allObjects(list *yaml.Node) bool {
	return list.Kind == yaml.SequenceNode &&
		!slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Kind != yaml.MappingNode })
}

// itemsOf returns the list that a document is, or has as a page of one. It is nil for
// other documents.
func itemsOf(document *yaml.Node) *yaml.Node {
	if items := fieldOf(document, "items"); items != nil {
		document = items
	}
	if document.Kind != yaml.SequenceNode {
		return nil
	}
	return document
}

// fieldOf returns the value of a field, nil if there is no such field or no object.
func fieldOf(object *yaml.Node, name string) *yaml.Node {
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

func dropField(object *yaml.Node, name string) {
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			object.Content = slices.Delete(object.Content, i, i+2)
			return
		}
	}
}

// listOf returns the items of a field, nil if there are none.
func listOf(object *yaml.Node, name string) []*yaml.Node {
	if n := fieldOf(object, name); n != nil && n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return nil
}

// textOf returns the text in a field, "" if there is none.
func textOf(object *yaml.Node, name string) string {
	if n := fieldOf(object, name); n != nil && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}

// rows writes a list of objects as a table that fits the screen, without columns
// that are empty in every row.
func (v *view) rows(w io.Writer, rows []*yaml.Node, columns []column, indent string) error {
	if len(columns) == 0 {
		columns = columnsOf(fieldsIn(rows)...)
	}
	cells := make([][]string, len(rows))
	for i := range rows {
		cells[i] = v.cells(rows[i], columns)
	}
	columns, cells = withoutEmpty(columns, cells)
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = uniseg.StringWidth(c.title)
		for _, row := range cells {
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
	}
	if v.width > 0 {
		widths = fit(widths, columns, v.width-len(indent))
		columns = columns[:len(widths)]
	}
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = strings.ToUpper(c.title)
	}
	var b strings.Builder
	v.line(&b, indent, head, widths, func(_ int, text string) string { return paint(v.colour, bold, text) })
	for _, row := range cells {
		v.line(&b, indent, row[:len(columns)], widths, func(i int, text string) string { return v.painted(columns[i].field, text) })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (v *view) cells(row *yaml.Node, columns []column) []string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		switch value := fieldOf(row, c.field); {
		case c.of != nil:
			cells[i] = printable(c.of(row))
		case value != nil:
			cells[i] = v.text(c.field, value)
		}
	}
	return cells
}

func withoutEmpty(columns []column, cells [][]string) (kept []column, keptCells [][]string) {
	keptCells = make([][]string, len(cells))
	for i, c := range columns {
		if !slices.ContainsFunc(cells, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		kept = append(kept, c)
		for j, row := range cells {
			keptCells[j] = append(keptCells[j], row[i])
		}
	}
	return kept, keptCells
}

// gap is how far columns are apart.
const gap = 2

// fit returns the widths of the columns that fit. The widest are cut first, then the
// last ones are left out, and columns that people copy from are cut last.
func fit(widths []int, columns []column, width int) []int {
	for shown := len(widths); ; shown-- {
		fitted := slices.Clone(widths[:shown])
		if narrow(fitted, width, func(i int) bool { return !columns[i].whole }) {
			return fitted
		}
		if shown == 1 || columns[shown-1].whole {
			narrow(fitted, width, func(int) bool { return true })
			return fitted
		}
	}
}

// narrow cuts the widest of the columns that may be cut until all fit, and reports
// whether they do.
func narrow(widths []int, width int, may func(i int) bool) bool {
	const least = 7 // the width of a shown token
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for total > width {
		widest := -1
		for i, w := range widths {
			if may(i) && w > least && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
		total--
	}
	return true
}

func (v *view) line(b *strings.Builder, indent string, cells []string, widths []int, paint func(int, string) string) {
	var line strings.Builder
	line.WriteString(indent)
	for i, cell := range cells {
		text := cut(cell, widths[i])
		line.WriteString(paint(i, text))
		if i < len(cells)-1 {
			line.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(text)+gap))
		}
	}
	fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
}

// cut returns a text that is at most that many columns wide.
func cut(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for rest, state := text, -1; rest != ""; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width-1 {
			break
		}
		used += w
		b.WriteString(cluster)
	}
	return b.String() + "…"
}

// Colours, as terminals know them.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// paint returns a text in a colour, if colours are wanted.
func paint(wanted bool, colour, text string) string {
	if !wanted || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// statusColours are the colours of how things ended.
var statusColours = map[string]string{
	"ok": green, "allowed": green, "handshake": green, "failed": red, "refused": yellow, "processing": yellow,
}

func (v *view) statusOf(object *yaml.Node) string {
	return v.painted("status", printable(sluice.Status(textOf(object, "status")).Word()))
}

// painted returns a value in its colour: a status and an outcome have one.
func (v *view) painted(field, text string) string {
	if colour := statusColours[text]; colour != "" && (field == "status" || field == "outcome") {
		return paint(v.colour, colour, text)
	}
	return text
}

// data writes those of the named fields that an object has, under headings.
func (v *view) data(w io.Writer, object *yaml.Node, names ...string) error {
	for _, name := range names {
		value := fieldOf(object, name)
		if value == nil || isEmpty(value) {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", paint(v.colour, bold, titleOf(name)))
		if err := writeIndented(w, value, "  "); err != nil {
			return err
		}
	}
	return nil
}

// printable escapes everything in a text that a terminal would obey.
func printable(text string) string {
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
