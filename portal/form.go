package portal

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/value"
)

// A field is one input of a form.
type field struct {
	Name     string
	Label    string
	Help     string
	Input    string // area, select, choices, secret, secret-area, or a type of input
	Value    string
	Hint     string
	Problem  string // what is wrong with the value
	Rows     int
	Required bool
	ReadOnly bool
	Focus    bool // it has the cursor
	Choices  []choice
}

// Mistake says what is wrong with the value, and calls the field by its label.
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
	Area         string // heading that it stands under; "" for none
}

// An area is a heading with the choices under it.
type area struct {
	Title   string
	Choices []choice
	Chosen  int // how many of them are
}

// Areas returns the choices under their headings, in order.
func (f field) Areas() (all []area) {
	for _, c := range f.Choices {
		if len(all) == 0 || all[len(all)-1].Title != c.Area {
			all = append(all, area{Title: c.Area})
		}
		in := &all[len(all)-1]
		in.Choices = append(in.Choices, c)
		if c.Chosen {
			in.Chosen++
		}
	}
	return all
}

// A form is the input of a command.
type form struct {
	Fields  []field
	Problem string // what is wrong besides the fields
}

// formOf returns the form of a command with what was entered, and the error that
// resulted.
func formOf(cmd command.Command, entered url.Values, err error) form {
	f := form{Fields: make([]field, 0, len(cmd.Params))}
	for _, param := range cmd.Params {
		f.Fields = append(f.Fields, fieldOf(param, entered))
	}
	f.blame(err)
	return f
}

// blame shows an error at its field, or above all fields.
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

// find returns a field, or nil.
func (f *form) find(name string) *field {
	i := slices.IndexFunc(f.Fields, func(other field) bool { return other.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Fields[i]
}

// drop removes fields.
func (f *form) drop(names ...string) {
	f.Fields = slices.DeleteFunc(f.Fields, func(other field) bool { return slices.Contains(names, other.Name) })
}

func fieldOf(p command.Param, entered url.Values) field {
	f := field{
		Name: p.Name, Label: p.Name, Help: typographic(p.Doc), Input: "text", Required: p.Required,
		Value: entered.Get(p.Name), Hint: p.Wants(),
	}
	switch {
	case p.Enum != nil:
		f.Input, f.Choices = "select", optional(p.Enum)
	case p.Type == "boolean":
		f.Input, f.Choices = "select", optional([]string{"true", "false"})
	case p.Type == "integer":
		f.Input = "number"
	case p.Type == "object" || p.Type == "" || p.Body == command.BodyOnly:
		f.Input, f.Rows = "area", 4
	case p.Type == "array":
		f.Hint = "separated by commas"
		f.Value = strings.Join(slices.DeleteFunc(slices.Clone(entered[p.Name]), func(s string) bool { return s == "" }), ", ")
	case p.Name == "password" || p.Name == "current":
		f.Input, f.Hint, f.Value = "password", "", "" // never shown again
	case p.Name == "signingSecret" || p.Name == "value" && p.Required && strings.Contains(p.Doc, "secret"):
		f.Input, f.Hint, f.Value = "secret", "", "" // never shown again either, but not a user's
	case f.Hint == "a string":
		f.Hint = ""
	}
	return f
}

// optional returns choices, the first of them empty.
func optional(values []string) []choice {
	choices := append(make([]choice, 0, len(values)+1), choice{Label: "(default)"})
	for _, value := range values {
		choices = append(choices, choice{Value: value, Label: value})
	}
	return choices
}

// other is the heading of chosen values that are not offered.
const other = "Other"

// choose makes a list's field offer choices. A chosen value that is no longer offered
// stays chosen.
func (f *form) choose(name string, offered []choice, chosen []string) {
	at := f.find(name)
	if at == nil {
		return
	}
	at.Input, at.Choices = "choices", offered
	for value := range strings.SplitSeq(strings.Join(chosen, ","), ",") {
		value = strings.TrimSpace(value)
		i := slices.IndexFunc(at.Choices, func(c choice) bool { return c.Value == value })
		switch {
		case i >= 0:
			at.Choices[i].Chosen = true
		case value != "":
			at.Choices = append(at.Choices, choice{Value: value, Label: value, Chosen: true, Area: other})
		}
	}
}

// argsOf returns the arguments that were entered in a command's form. It leaves out
// empty fields, except lists to choose from.
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

// valueOf returns the argument for a text. A parameter of any type gets the decoded
// text if it is JSON.
func valueOf(p command.Param, text string) any {
	if p.Type == "" {
		if decoded, err := value.Decode(text); err == nil {
			return decoded
		}
	}
	return command.Text(text)
}

type commandLine struct {
	Name, Summary string
	Allowed       bool
}

// passwordRule says which passwords are valid.
var passwordRule = strconv.Itoa(limit.MinPassword) + " characters or more, and none of the common ones."
