// Package view shows documents of the server to people: as tables, as lines with
// labels, and without anything that a terminal would obey.
package view

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/wording"
)

// A View is the text that a person sees. It says how things are shown there: when, where, and how wide the
// screen is.
type View struct {
	bytes.Buffer

	Now    time.Time
	Zone   *time.Location
	Width  int // columns of the terminal; 0 means no bound
	Colour bool
	Tokens bool // show the tokens of webhooks
}

// Fields whose numbers have a unit, and those that hold a token.
var (
	inMilliseconds = []string{"duration", "p50", "p99"}
	inBytes        = []string{"size", "maxPayloadLength", "freeDisk", "eventBytes"}
	withToken      = []string{"uuid", "token", "webhookUrl", "hookUrl"}
)

// text returns the value of a field in one line. Times become how long ago they were.
func (v *View) text(field string, n *yaml.Node) string {
	text := n.Value
	at, isTime := timeOf(n)
	number, isNumber := Number(n)
	switch {
	case n.Tag == "!!null":
		return ""
	case n.Tag == "!!bool":
		text = map[string]string{"true": "yes", "false": "no"}[n.Value]
	case isTime:
		text = v.ago(at)
	case isNumber && slices.Contains(inMilliseconds, field):
		text = Milliseconds(number)
	case isNumber && slices.Contains(inBytes, field):
		text = wording.Bytes(number)
	case n.Kind == yaml.MappingNode && Field(n, "detail") != nil:
		text = problemOf(n)
	case n.Kind == yaml.SequenceNode:
		text = strings.ReplaceAll(strings.Join(v.parts(n), ", "), "., ", ". ") // sentences need no comma
	case n.Kind == yaml.MappingNode:
		text = "{" + strings.Join(v.parts(n), ", ") + "}"
	case field == "status":
		text = sluice.Status(text).Word()
	case field == "listens":
		text = strings.TrimPrefix(text, sluice.EventPrefix)
	case slices.Contains(withToken, field):
		text = v.token(text)
	}
	return strings.ReplaceAll(Printable(text), "\t", " ")
}

// whole does what text does, but shows times in full.
func (v *View) whole(field string, n *yaml.Node) string {
	if at, ok := timeOf(n); ok {
		return at.In(v.Zone).Format("2006-01-02 15:04:05 MST") + " (" + v.ago(at) + ")"
	}
	return v.text(field, n)
}

// brief returns the value of a field as text does, "" if there is none.
func (v *View) brief(object *yaml.Node, field string) string {
	if n := Field(object, field); n != nil && !isEmpty(n) {
		return v.text(field, n)
	}
	return ""
}

// full does what brief does, but shows times in full.
func (v *View) full(object *yaml.Node, field string) string {
	if n := Field(object, field); n != nil {
		return v.whole(field, n)
	}
	return ""
}

// joined puts a text between those that are not empty.
func joined(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), between)
}

// parts returns the items of a list or the fields of an object, each in one line.
func (v *View) parts(n *yaml.Node) []string {
	var all []string
	for i := 0; i < len(n.Content); i++ {
		part := v.text("", n.Content[i])
		if n.Kind == yaml.MappingNode {
			i++
			part += ": " + v.text(n.Content[i-1].Value, n.Content[i])
		}
		all = append(all, part)
	}
	return all
}

// token hides a webhook's token, except the last characters, which trace ids show.
func (v *View) token(text string) string {
	start := strings.LastIndexAny(text, "=/") + 1
	if v.Tokens || !sluice.IsToken(text[start:]) {
		return text
	}
	return text[:start] + "…" + sluice.Last6(text)
}

// problemOf returns the detail of a problem document, with its code.
func problemOf(n *yaml.Node) string {
	text := Field(n, "detail").Value
	if code := Field(n, "code"); code != nil {
		text += " (" + code.Value + ")"
	}
	return strings.Join(strings.Fields(text), " ")
}

func timeOf(n *yaml.Node) (time.Time, bool) {
	if n.Tag != "!!str" || len(n.Value) < len("2006-01-02T15:04:05Z") || n.Value[10] != 'T' {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, n.Value)
	return at, err == nil
}

// Number returns the number that a value is, and whether it is one.
func Number(n *yaml.Node) (float64, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "" {
		return 0, false
	}
	number, err := strconv.ParseFloat(n.Value, 64)
	return number, err == nil
}

// ago returns how long ago a time was, or its date if that was long ago.
func (v *View) ago(at time.Time) string { return wording.Ago(v.Now, at.In(v.Zone)) }

// Milliseconds returns a duration as people say it.
func Milliseconds(number float64) string {
	return wording.Duration(time.Duration(number * float64(time.Millisecond)))
}

// titles are for fields whose title is not the name that the API has for them.
var titles = map[string]string{
	"uuid": "Token", "webhookUrl": "URL", "hookUrl": "URL without a query", "url": "URL",
}

// Title returns the name of a field as people read it: eventKey is Event key.
func Title(field string) string {
	if title := titles[field]; title != "" {
		return title
	}
	var b strings.Builder
	for i, r := range field {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case unicode.IsUpper(r):
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return Printable(b.String())
}

// asSent are fields with user data, which is shown unchanged.
var asSent = []string{"body", "headers", "payload", "query", "schema", "signature", "source", "value", "vars"}

// facts are lines about something.
type facts []fact

type fact struct{ label, text string }

// add adds a line, unless there is nothing to say.
func (f *facts) add(label, text string) {
	if text != "" {
		*f = append(*f, fact{label, text})
	}
}

// facts shows lines with their labels in a column.
func (v *View) facts(indent string, facts facts) {
	width := 0
	for _, f := range facts {
		width = max(width, uniseg.StringWidth(f.label))
	}
	for _, f := range facts {
		pad := strings.Repeat(" ", width-uniseg.StringWidth(f.label)+gap)
		fmt.Fprintf(v, "%s%s%s%s\n", indent, Paint(v.Colour, Faint, f.label), pad, f.text)
	}
}

// Account shows an object: first the fields that fit in a line, then the others
// under headings.
func (v *View) Account(object *yaml.Node, indent string) {
	var facts facts
	var longer []int
	for i := 0; i+1 < len(object.Content); i += 2 {
		name, value := object.Content[i].Value, object.Content[i+1]
		switch {
		case isEmpty(value):
		case isLine(name, value):
			facts = append(facts, fact{Title(name), v.painted(name, v.whole(name, value))})
		default:
			longer = append(longer, i)
		}
	}
	v.facts(indent, facts)
	for _, i := range longer {
		name, value := object.Content[i].Value, object.Content[i+1]
		fmt.Fprintf(v, "\n%s%s\n", indent, Paint(v.Colour, Bold, Title(name)))
		v.section(name, value, indent+"  ")
	}
}

func (v *View) section(name string, value *yaml.Node, indent string) {
	switch {
	case name == "setup": // sentences, to be read and not to be parsed
		for i, step := range value.Content {
			fmt.Fprintf(v, "%s%d. %s\n", indent, i+1, Printable(step.Value))
		}
	case slices.Contains(asSent, name) || value.Kind == yaml.ScalarNode ||
		value.Kind == yaml.SequenceNode && !AllObjects(value):
		WriteIndented(v, value, indent)
	case value.Kind == yaml.SequenceNode && slices.ContainsFunc(value.Content, hasLines):
		for i, item := range value.Content {
			if i > 0 {
				fmt.Fprintln(v)
			}
			v.Account(item, indent)
		}
	case value.Kind == yaml.SequenceNode:
		v.Rows(value.Content, nil, indent)
	default:
		v.Account(value, indent)
	}
}

// hasLines reports whether an object has a text of several lines, which no cell of a table holds.
func hasLines(object *yaml.Node) bool {
	return slices.ContainsFunc(object.Content, func(n *yaml.Node) bool { return strings.Contains(n.Value, "\n") })
}

func isEmpty(n *yaml.Node) bool {
	return n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "" ||
		n.Kind != yaml.ScalarNode && len(n.Content) == 0
}

// isLine reports whether a value fits in a line.
func isLine(name string, n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		return !strings.Contains(n.Value, "\n")
	case yaml.SequenceNode:
		return !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool {
			// steps to take
			return item.Kind != yaml.ScalarNode || len(n.Content) > 1 && strings.HasSuffix(item.Value, ".")
		})
	}
	return Field(n, "detail") != nil && !slices.Contains(asSent, name)
}

// Counted returns a number of things in words.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
