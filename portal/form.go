package portal

import (
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// A field is one input of a form.
type field struct {
	Name     string
	Label    string
	Help     string
	Kind     string // area, select, choices, secret, secret-area, or a type of input
	Value    string
	Hint     string
	Problem  string // what is wrong with the value
	Rows     int
	Required bool
	ReadOnly bool
	Focus    bool // people begin here
	Choices  []choice
}

// Mistake says what is wrong with the value, in the words of the form.
func (f field) Mistake() string {
	if f.Label == f.Name || f.Label == "" {
		return f.Problem
	}
	return strings.Replace(f.Problem, "The parameter "+f.Name+" ", "The "+strings.ToLower(f.Label[:1])+f.Label[1:]+" ", 1)
}

// A choice is one of the values that a field offers.
type choice struct {
	Value, Label string
	Chosen       bool
	Help         string
}

// A form is the input of a command.
type form struct {
	Fields  []field
	Problem string // what is wrong, if it is not about one of the fields
}

// formOf returns the form of a command, with what was entered and the error it
// led to.
func formOf(cmd command.Command, entered url.Values, err error) form {
	f := form{Fields: make([]field, 0, len(cmd.Params))}
	for _, param := range cmd.Params {
		f.Fields = append(f.Fields, fieldOf(param, entered))
	}
	f.blame(err)
	return f
}

// blame shows an error beside the field it is about, or above all.
func (f *form) blame(err error) {
	if err == nil {
		return
	}
	e := sluice.AsError(err)
	if at := f.find(e.Parameter); at != nil {
		at.Problem, at.Focus = typographic(e.Message), true
		return
	}
	f.Problem = typographic(e.Message)
}

// find returns the field of that name, nil if there is none.
func (f *form) find(name string) *field {
	i := slices.IndexFunc(f.Fields, func(other field) bool { return other.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Fields[i]
}

// drop leaves fields out of a form.
func (f *form) drop(names ...string) {
	f.Fields = slices.DeleteFunc(f.Fields, func(other field) bool { return slices.Contains(names, other.Name) })
}

// fieldOf returns the field of a parameter.
func fieldOf(p command.Param, entered url.Values) field {
	f := field{
		Name: p.Name, Label: p.Name, Help: typographic(p.Doc), Kind: "text", Required: p.Required,
		Value: entered.Get(p.Name), Hint: p.Wants(),
	}
	switch {
	case p.Enum != nil:
		f.Kind, f.Choices = "select", optional(p.Enum)
	case p.Type == "boolean":
		f.Kind, f.Choices = "select", optional([]string{"true", "false"})
	case p.Type == "integer":
		f.Kind = "number"
	case p.Type == "object" || p.Type == "" || p.Body == command.BodyOnly:
		f.Kind, f.Rows = "area", 4
	case p.Type == "array":
		f.Hint = "separated by commas"
		f.Value = strings.Join(slices.DeleteFunc(slices.Clone(entered[p.Name]), func(s string) bool { return s == "" }), ", ")
	case p.Name == "password" || p.Name == "current":
		f.Kind, f.Hint, f.Value = "password", "", "" // it is not shown again
	case p.Name == "signingSecret" || p.Name == "value" && p.Required && strings.Contains(p.Doc, "secret"):
		f.Kind, f.Hint, f.Value = "secret", "", "" // nor this, but it is no user's
	case f.Hint == "a string":
		f.Hint = ""
	}
	return f
}

// optional returns choices, the first of which is none.
func optional(values []string) []choice {
	choices := append(make([]choice, 0, len(values)+1), choice{Label: "(default)"})
	for _, value := range values {
		choices = append(choices, choice{Value: value, Label: value})
	}
	return choices
}

// choose makes the field of a list offer the items to choose from.
// What was chosen and is not offered any more stays chosen.
func (f *form) choose(name string, offered []choice, chosen []string) {
	at := f.find(name)
	if at == nil {
		return
	}
	at.Kind, at.Choices = "choices", offered
	for _, value := range chosen {
		i := slices.IndexFunc(at.Choices, func(c choice) bool { return c.Value == value })
		switch {
		case i >= 0:
			at.Choices[i].Chosen = true
		case value != "":
			at.Choices = append(at.Choices, choice{Value: value, Label: value, Chosen: true})
		}
	}
}

// argsOf returns the arguments that were entered in the form of a command.
// Empty fields are not given, except lists to choose from.
func argsOf(cmd command.Command, entered url.Values) command.Args {
	var args command.Args
	for _, p := range cmd.Params {
		given, ok := entered[p.Name]
		if !ok {
			continue
		}
		text := strings.ReplaceAll(given[0], "\r\n", "\n")
		switch {
		case p.Type == "array" && (len(given) > 1 || text == "" && entered.Get("choices") != ""):
			text = strings.Join(given, ",")
		case text == "":
			continue
		}
		args = append(args, command.Arg{Name: p.Name, Value: valueOf(p, text)})
	}
	return args
}

// valueOf returns a text as a parameter takes it: one that takes any value gets
// the JSON value that it is, if it is one.
func valueOf(p command.Param, text string) any {
	if p.Type == "" {
		if decoded, err := value.Decode(text); err == nil {
			return decoded
		}
	}
	return command.Text(text)
}
