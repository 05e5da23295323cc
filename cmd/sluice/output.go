package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/client"
	"sluice/difference"
	"sluice/value"
)

func (t *terminal) form() (string, error) {
	switch {
	case t.json && t.format != "" && t.format != "json":
		return "", usage("--json and -o %s exclude each other; give one of them.", t.format)
	case t.json:
		return "json", nil
	case t.format == "" && isTerminal(t.out):
		return "table", nil
	case t.format == "":
		return "json", nil
	case slices.Contains(forms, t.format):
		return t.format, nil
	}
	return "", usage("There is no output form %q; use table, json or yaml.", t.format)
}

var forms = []string{"table", "json", "yaml"}

// show writes a document of the server. The columns are those of a list that people
// see; none means all.
func (t *terminal) show(document []byte, columns ...column) error {
	if t.showTokens && bytes.Contains(document, []byte(`"uuid":"…`)) {
		t.note("Whole tokens are shown to users with the permission webhook.token.")
	}
	return t.write(document, func(w io.Writer, root *yaml.Node) error {
		v := t.view()
		if items := itemsOf(root); items != nil {
			root = items
		}
		switch {
		case root.Kind == yaml.SequenceNode && len(root.Content) == 0:
			return nil
		case allObjects(root):
			return v.rows(w, root.Content, columns, "")
		case root.Kind == yaml.MappingNode:
			t.warn(root)
			return v.account(w, root, "")
		}
		return writeIndented(w, root, "")
	})
}

// warn prints the server's warnings, and removes them from the document.
func (t *terminal) warn(root *yaml.Node) {
	warnings := fieldOf(root, "warnings")
	if warnings == nil || slices.ContainsFunc(warnings.Content, func(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode }) {
		return // these are no texts, and are shown with the rest
	}
	for _, warning := range warnings.Content {
		fmt.Fprintln(t.err, "warning:", printable(warning.Value))
	}
	warnings.Content = nil
}

// showData writes user data unchanged.
func (t *terminal) showData(document []byte) error {
	return t.write(document, func(w io.Writer, root *yaml.Node) error { return writeIndented(w, root, "") })
}

// write writes a document in the wanted form; people is the form for people.
func (t *terminal) write(document []byte, people func(io.Writer, *yaml.Node) error) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if form == "json" {
		err = writeJSON(&text, document, isTerminal(t.out))
	} else {
		var root *yaml.Node
		if root, err = parseJSON(document); err == nil {
			if form == "yaml" {
				people = encodeYAML
			}
			err = people(&text, root)
		}
	}
	if err != nil {
		return fmt.Errorf("the server's answer can't be shown: %w", err)
	}
	_, err = t.out.Write(text.Bytes())
	return err
}

// tell shows a document to programs; people writes what people see instead.
func (t *terminal) tell(document any, people func(io.Writer)) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	if form != "table" {
		return t.showValue(document)
	}
	var text bytes.Buffer
	people(&text)
	_, err = t.out.Write(text.Bytes())
	return err
}

// report writes what was done: a line for people, a document for programs.
func (t *terminal) report(document any, format string, args ...any) error {
	return t.tell(document, func(w io.Writer) { fmt.Fprintln(w, printable(fmt.Sprintf(format, args...))) })
}

// advise tells people, but not programs, what to do next.
func (t *terminal) advise(sentence string) error {
	form, err := t.form()
	if err == nil && form == "table" {
		_, err = fmt.Fprintln(t.out, printable(sentence))
	}
	return err
}

// showValue writes a value as show does a document.
func (t *terminal) showValue(v any, columns ...column) error {
	document, err := value.Marshal(v)
	if err != nil {
		return err
	}
	return t.show(document, columns...)
}

// showAnswer shows what the server answered.
func (t *terminal) showAnswer(answer client.Answer, err error) error {
	if err != nil {
		return err
	}
	return t.show(answer.Body)
}

// writeJSON writes a document in one line for programs, over several for people.
func writeJSON(w io.Writer, document []byte, indent bool) error {
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
	_, err = fmt.Fprintln(w, harmless(text.String()))
	return err
}

// harmless escapes the control characters that JSON leaves as they are, and some
// terminals obey.
func harmless(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 0x7f && r < 0xa0 {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// lines does what printable does, and keeps the line ends.
func lines(text string) string {
	shown := strings.Split(text, "\n")
	for i, line := range shown {
		shown[i] = printable(line)
	}
	return strings.Join(shown, "\n")
}

func encodeYAML(w io.Writer, root *yaml.Node) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return err
	}
	return enc.Close()
}

// parseJSON returns a JSON document as a tree in which fields keep their order
// and numbers their digits.
func parseJSON(document []byte) (*yaml.Node, error) {
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

// note tells people something besides the answer.
func (t *terminal) note(text string) {
	if form, err := t.form(); err == nil && form == "table" {
		fmt.Fprintln(t.err, text)
	}
}

// diff returns how two texts differ, line by line, with a few unchanged lines around
// each change.
func diff(name, before, after string, colour bool) string {
	var b strings.Builder
	title := "changed"
	switch {
	case before == "":
		title = "new"
	case after == "":
		title = "deleted"
	}
	fmt.Fprintf(&b, "%s\n", paint(colour, bold, printable(name)+" ("+title+")"))
	for _, e := range difference.Lines(before, after) {
		switch line := string(e.Sign) + " " + printable(e.Line); e.Sign {
		case '-':
			fmt.Fprintln(&b, paint(colour, red, line))
		case '+':
			fmt.Fprintln(&b, paint(colour, green, line))
		default:
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}
