package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"go.yaml.in/yaml/v3"
)

// A Column is one of a list.
type Column struct {
	title string
	field string
	of    func(row *yaml.Node) string // in place of a field
	whole bool                        // it is cut last, since people copy from it
}

// Columns returns a column for each field. The first one names the row.
func Columns(fields ...string) []Column {
	columns := make([]Column, len(fields))
	for i, field := range fields {
		columns[i] = Column{
			Title(field), field, nil, i == 0 || field == "traceId" || field == "eventKey" || field == "uuid",
		}
	}
	return columns
}

// fieldsIn returns the fields of all rows. One that earlier rows don't have comes behind the field
// before it, so that the order does not depend on which row is first.
func fieldsIn(rows []*yaml.Node) (fields []string) {
	for _, row := range rows {
		last := -1
		for i := 0; i+1 < len(row.Content); i += 2 {
			name := row.Content[i].Value
			at := slices.Index(fields, name)
			if at < 0 {
				at = last + 1
				fields = slices.Insert(fields, at, name)
			}
			last = at
		}
	}
	return fields
}

// Rows shows a list of objects as a table that fits the screen, without columns
// that are empty in every row.
func (v *View) Rows(rows []*yaml.Node, columns []Column, indent string) {
	if len(columns) == 0 {
		columns = Columns(fieldsIn(rows)...)
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c Column) bool {
		return !slices.ContainsFunc(rows, func(row *yaml.Node) bool { return v.cell(row, c) != "" })
	})
	cells := make([][]string, len(rows))
	for i, row := range rows {
		for _, c := range columns {
			cells[i] = append(cells[i], v.cell(row, c))
		}
	}
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = uniseg.StringWidth(c.title)
		for _, row := range cells {
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
	}
	if v.Width > 0 {
		widths = fit(widths, columns, v.Width-len(indent))
		columns = columns[:len(widths)]
	}
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = strings.ToUpper(c.title)
	}
	v.line(indent, head, widths, func(_ int, text string) string { return Paint(v.Colour, Bold, text) })
	for _, row := range cells {
		v.line(indent, row[:len(columns)], widths,
			func(i int, text string) string { return v.painted(columns[i].field, text) })
	}
}

func (v *View) cell(row *yaml.Node, c Column) (text string) {
	switch value := Field(row, c.field); {
	case c.of != nil:
		text = Printable(c.of(row))
	case value != nil:
		text = v.text(c.field, value)
	}
	return text
}

// gap is how far columns are apart.
const gap = 2

// fit returns the widths of the columns that fit. The widest are cut first, then the
// last ones are left out, and columns that people copy from are cut last.
func fit(widths []int, columns []Column, width int) []int {
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

func (v *View) line(indent string, cells []string, widths []int, paint func(int, string) string) {
	var line strings.Builder
	line.WriteString(indent)
	for i, cell := range cells {
		text := cut(cell, widths[i])
		line.WriteString(paint(i, text))
		if i < len(cells)-1 {
			line.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(text)+gap))
		}
	}
	fmt.Fprintln(v, strings.TrimRight(line.String(), " "))
}

// cut returns a text that is at most that many columns wide.
func cut(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	end, used := 0, 0
	for g := uniseg.NewGraphemes(text); g.Next() && used+g.Width() < width; used += g.Width() {
		_, end = g.Positions()
	}
	return text[:end] + "…"
}

// Colours, as terminals know them.
const (
	Bold   = "1"
	Faint  = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
)

// Paint returns a text in a colour, if colours are wanted.
func Paint(wanted bool, colour, text string) string {
	if !wanted || colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// StatusColours are the colours of how things ended.
var StatusColours = map[string]string{
	"ok": Green, "allowed": Green, "handshake": Green, "failed": Red, "rejected": Yellow, "processing": Yellow,
}

func (v *View) statusOf(object *yaml.Node) string {
	return v.painted("status", v.brief(object, "status"))
}

// painted returns a value in its colour: a status and an outcome have one.
func (v *View) painted(field, text string) string {
	return Paint(v.Colour && (field == "status" || field == "outcome"), StatusColours[text], text)
}

// data shows those of the named fields that an object has, under headings.
func (v *View) data(object *yaml.Node, names ...string) {
	for _, name := range names {
		value := Field(object, name)
		if value == nil || isEmpty(value) {
			continue
		}
		fmt.Fprintf(v, "\n%s\n", Paint(v.Colour, Bold, Title(name)))
		WriteIndented(v, value, "  ")
	}
}
