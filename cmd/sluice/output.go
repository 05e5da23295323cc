package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/term"

	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/value"
)

// chooseForm finds the form of the output, before anything is done.
func (t *terminal) chooseForm() error {
	t.formGiven = t.json || t.form != ""
	switch {
	case t.json && t.form != "" && t.form != "json":
		return usage("--json and -o %s exclude each other; give one of them.", t.form)
	case t.json || t.form == "" && !isTerminal(t.out):
		t.form = "json"
	case t.form == "":
		t.form = "table"
	case !slices.Contains(forms, t.form):
		return usage("There is no output form %q; use table, json or yaml.", t.form)
	}
	return nil
}

// forPeople reports whether the output is for people, not for programs.
func (t *terminal) forPeople() bool { return t.form == "table" }

var forms = []string{"table", "json", "yaml"}

func (t *terminal) view() *view.View {
	v := &view.View{Now: time.Now(), Zone: time.Local, Colour: colours(t.out), Tokens: t.showTokens}
	if isTerminal(t.out) {
		if width, _, err := term.GetSize(int(t.out.Fd())); err == nil {
			v.Width = width
		}
	}
	return v
}

// show writes a document of the server. The columns are those of a list that people
// see; none means all.
func (t *terminal) show(document []byte, columns ...view.Column) error {
	if t.showTokens && bytes.Contains(document, []byte(`"uuid":"…`)) {
		t.note("Whole tokens are shown to users with the permission webhook.token.")
	}
	return t.write(document, func(v *view.View, w io.Writer, root *yaml.Node) error {
		if items := view.Items(root); items != nil {
			root = items
		}
		switch {
		case root.Kind == yaml.SequenceNode && len(root.Content) == 0:
			return nil
		case view.AllObjects(root):
			return v.Rows(w, root.Content, columns, "")
		case root.Kind == yaml.MappingNode:
			t.warn(root)
			return v.Account(w, root, "")
		}
		return view.WriteIndented(w, root, "")
	})
}

// warn prints the server's warnings, and removes them from the document.
func (t *terminal) warn(root *yaml.Node) {
	warnings := view.Field(root, "warnings")
	if warnings == nil ||
		slices.ContainsFunc(warnings.Content, func(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode }) {
		return // these are no texts, and are shown with the rest
	}
	for _, warning := range warnings.Content {
		fmt.Fprintln(t.err, "warning:", view.Printable(warning.Value))
	}
	warnings.Content = nil
}

// showData writes user data unchanged.
func (t *terminal) showData(document []byte) error {
	return t.write(document, func(_ *view.View, w io.Writer, root *yaml.Node) error {
		return view.WriteIndented(w, root, "")
	})
}

// write writes a document in the wanted form; people is the form for people.
func (t *terminal) write(document []byte, people func(*view.View, io.Writer, *yaml.Node) error) error {
	var text bytes.Buffer
	var root *yaml.Node
	var err error
	if t.form != "json" {
		root, err = view.Parse(document)
	}
	switch {
	case err != nil:
	case t.form == "json":
		err = view.WriteJSON(&text, document, isTerminal(t.out))
	case t.form == "yaml":
		err = view.WriteYAML(&text, root)
	default:
		err = people(t.view(), &text, root)
	}
	if err != nil {
		return fmt.Errorf("the server's answer can't be shown: %w", err)
	}
	_, err = t.out.Write(text.Bytes())
	return err
}

// present shows a document to programs; people writes what people see instead.
func (t *terminal) present(document any, people func(io.Writer)) error {
	if !t.forPeople() {
		return t.showValue(document)
	}
	var text bytes.Buffer
	people(&text)
	_, err := t.out.Write(text.Bytes())
	return err
}

// report writes what was done: a line for people, a document for programs.
func (t *terminal) report(document any, format string, args ...any) error {
	return t.present(document, func(w io.Writer) { fmt.Fprintln(w, view.Printable(fmt.Sprintf(format, args...))) })
}

// showValue writes a value as show does a document.
func (t *terminal) showValue(v any, columns ...view.Column) error {
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

// do calls a command. People see the sentence, programs the answer.
func (t *terminal) do(ctx context.Context, command string, values url.Values, sentence string, args ...any) error {
	answer, err := t.server.Command(ctx, command, values, nil)
	if err != nil {
		return err
	}
	return t.report(json.RawMessage(answer.Body), sentence, args...)
}

// note says something to people besides the answer.
func (t *terminal) note(text string) {
	if t.forPeople() {
		fmt.Fprintln(t.err, text)
	}
}
