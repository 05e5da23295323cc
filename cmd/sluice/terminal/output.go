package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/term"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
	"sluice/value"
)

// chooseForm finds the form of the output, before anything is done.
func (t *Terminal) chooseForm() error {
	isJSON := t.On("json")
	t.form = t.Text("output")
	t.FormGiven = isJSON || t.form != ""
	switch {
	case isJSON && t.form != "" && t.form != "json":
		return exit.Usage("--json and -o %s exclude each other; give one of them.", t.form)
	case isJSON || t.form == "" && !IsTerminal(t.Out):
		t.form = "json"
	case t.form == "":
		t.form = "table"
	case t.form != "table" && t.form != "json" && t.form != "yaml":
		return exit.Usage("There is no output form %q; use table, json or yaml.", t.form)
	}
	return nil
}

// ForPeople reports whether the output is for people, not for programs.
func (t *Terminal) ForPeople() bool { return t.form == "table" }

func (t *Terminal) view() *view.View {
	v := &view.View{Now: time.Now(), Zone: time.Local, Colour: Colours(t.Out), Tokens: t.ShowTokens}
	if IsTerminal(t.Out) {
		if width, _, err := term.GetSize(int(t.Out.Fd())); err == nil {
			v.Width = width
		}
	}
	return v
}

// Show writes a document of the server. The columns are those of a list that people
// see; none means all.
func (t *Terminal) Show(document []byte, columns ...view.Column) error {
	if t.ShowTokens && bytes.Contains(document, []byte(`"uuid":"…`)) {
		t.Notef("Whole tokens are shown to users with the permission webhook.token.")
	}
	return t.Write(document, func(v *view.View, root *yaml.Node) {
		if items := view.Items(root); items != nil {
			root = items
		}
		switch {
		case root.Kind == yaml.SequenceNode && len(root.Content) == 0:
		case view.AllObjects(root):
			for _, item := range root.Content {
				t.warn(item)
			}
			v.Rows(root.Content, columns, "")
		case root.Kind == yaml.MappingNode:
			t.warn(root)
			v.Account(root, "")
		default:
			view.WriteIndented(v, root, "")
		}
	})
}

// warn prints the server's warnings, texts or findings in a source, and removes them from the document.
func (t *Terminal) warn(root *yaml.Node) {
	warnings := view.Field(root, "warnings")
	if warnings == nil {
		return
	}
	for _, warning := range warnings.Content {
		text := warning.Value
		if f := (sluice.Finding{}); warning.Kind == yaml.MappingNode && warning.Decode(&f) == nil {
			text = fmt.Sprintf("%d:%d: %s %s", f.Line, f.Column, f.Message, f.Advice())
			if name := view.Field(root, "name"); name != nil {
				text = name.Value + ":" + text
			}
		}
		t.Sayf("warning: %s", strings.TrimSpace(text))
	}
	warnings.Content = nil
}

// ShowData writes user data unchanged.
func (t *Terminal) ShowData(document []byte) error {
	return t.Write(document, func(v *view.View, root *yaml.Node) { view.WriteIndented(v, root, "") })
}

// Write writes a document in the wanted form; people is the form for people.
func (t *Terminal) Write(document []byte, people func(*view.View, *yaml.Node)) error {
	v := t.view()
	var root *yaml.Node
	var err error
	if t.form != "json" {
		root, err = view.Parse(document)
	}
	switch {
	case err != nil:
	case t.form == "json":
		err = view.WriteJSON(v, document, IsTerminal(t.Out))
	case t.form == "yaml":
		view.WriteYAML(&v.Buffer, root)
	default:
		people(v, root)
	}
	if err != nil {
		return fmt.Errorf("the server's answer can't be shown: %w", err)
	}
	_, err = t.Out.Write(v.Bytes())
	return err
}

// Present shows a document to programs; people writes what people see instead.
func (t *Terminal) Present(document any, people func(io.Writer)) error {
	if !t.ForPeople() {
		return t.ShowValue(document)
	}
	var text bytes.Buffer
	people(&text)
	_, err := t.Out.Write(text.Bytes())
	return err
}

// Report writes what was done: a line for people, a document for programs.
func (t *Terminal) Report(document any, format string, args ...any) error {
	return t.Present(document, func(w io.Writer) { fmt.Fprintln(w, view.Printable(fmt.Sprintf(format, args...))) })
}

// ShowValue writes a value as show does a document.
func (t *Terminal) ShowValue(v any, columns ...view.Column) error {
	document, err := value.Marshal(v)
	if err != nil {
		return err
	}
	return t.Show(document, columns...)
}

// ShowAnswer shows what the server answered.
func (t *Terminal) ShowAnswer(answer client.Answer, err error) error {
	if err != nil {
		return err
	}
	return t.Show(answer.Body)
}

// Call calls the command of the verb.
func (t *Terminal) Call(ctx context.Context) (client.Answer, error) {
	return t.Server.Command(ctx, t.Verb.Command, t.Params, nil)
}

// Decode does what Call does, and decodes the answer.
func (t *Terminal) Decode(ctx context.Context, into any) error {
	return t.Server.Decode(ctx, t.Verb.Command, t.Params, nil, into)
}

// Do does what Call does. People see the sentence, programs the answer.
func (t *Terminal) Do(ctx context.Context, sentence string, args ...any) error {
	answer, err := t.Call(ctx)
	if err != nil {
		return err
	}
	return t.Report(json.RawMessage(answer.Body), sentence, args...)
}

// Sayf says something to people, in a line beside the answer.
func (t *Terminal) Sayf(format string, args ...any) {
	fmt.Fprintln(t.Err, view.Printable(fmt.Sprintf(format, args...)))
}

// Notef says something unless the answer is for programs.
func (t *Terminal) Notef(format string, args ...any) {
	if t.ForPeople() {
		t.Sayf(format, args...)
	}
}
