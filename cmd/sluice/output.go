package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// form gives the form of the output.
func (t *terminal) form() (string, error) {
	switch t.format {
	case "table", "json", "yaml":
		return t.format, nil
	case "":
		if isTerminal(t.out) {
			return "table", nil
		}
		return "json", nil
	}
	return "", usage("There is no output form %q; use table, json or yaml.", t.format)
}

// show writes a JSON document in the form that is wanted. columns are those of a
// table that people want to see; none means all.
func (t *terminal) show(document []byte, columns ...string) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	switch form {
	case "json":
		err = writeJSON(&text, document, isTerminal(t.out))
	case "yaml":
		err = writeYAML(&text, document)
	default:
		err = writeTable(&text, document, columns, colours(t.out))
	}
	if err != nil {
		return fmt.Errorf("the server's answer can't be shown: %w", err)
	}
	_, err = t.out.Write(text.Bytes())
	return err
}

// report says in a line what was done, or in a document for programs.
func (t *terminal) report(document any, format string, args ...any) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	if form == "table" {
		_, err = fmt.Fprintln(t.out, printable(fmt.Sprintf(format, args...)))
		return err
	}
	return t.showValue(document)
}

// showValue writes a value as show does a document.
func (t *terminal) showValue(value any, columns ...string) error {
	document, err := toJSON(value)
	if err != nil {
		return err
	}
	return t.show(document, columns...)
}

func toJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return text.Bytes(), err
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

// harmless writes those control characters of a JSON text as escapes that JSON
// leaves as they are: some terminals obey them.
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

// printable gives a text without what a terminal would obey.
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

func writeYAML(w io.Writer, document []byte) error {
	root, err := parseJSON(document)
	if err != nil {
		return err
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return err
	}
	return enc.Close()
}

// parseJSON gives a JSON document as a tree in which fields keep their order and
// numbers their digits.
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
			item, err := parseValue(dec) // of a mapping keys and values take turns
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
