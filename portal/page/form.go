package page

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/limit"
	"sluice/value"
)

// A Field is one input of a form.
type Field struct { //nolint:recvcheck // templates call methods of the value
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
	Choices  []Choice
}

// Mistake says what is wrong with the value, and calls the field by its label.
func (f Field) Mistake() string {
	if f.Label == f.Name || f.Label == "" {
		return f.Problem
	}
	return strings.Replace(f.Problem, "The parameter "+f.Name+" ", "The "+strings.ToLower(f.Label[:1])+f.Label[1:]+" ",
		1)
}

// A Choice is one of the values that a field offers.
type Choice struct {
	Value, Label string
	Chosen       bool
	Help         string
	Area         string // heading that it stands under; "" for none
}

// An Area is a heading with the choices under it.
type Area struct {
	Title   string
	Choices []Choice
	Chosen  int // how many of them are
}

// Areas returns the choices under their headings, in order.
func (f Field) Areas() (all []Area) {
	for _, c := range f.Choices {
		if len(all) == 0 || all[len(all)-1].Title != c.Area {
			all = append(all, Area{Title: c.Area})
		}
		in := &all[len(all)-1]
		in.Choices = append(in.Choices, c)
		if c.Chosen {
			in.Chosen++
		}
	}
	return all
}

// A Form is the input of a command.
type Form struct {
	Fields  []Field
	Problem string // what is wrong besides the fields
}

// FormOf returns the form of a command with what was entered, and the error that
// resulted.
func FormOf(cmd command.Command, entered url.Values, err error) Form {
	f := Form{Fields: make([]Field, 0, len(cmd.Params))}
	for _, param := range cmd.Params {
		f.Fields = append(f.Fields, FieldOf(param, entered))
	}
	f.Blame(err)
	return f
}

// Blame shows an error at its field, or above all fields.
func (f *Form) Blame(err error) {
	if err == nil {
		return
	}
	e := sluice.AsError(err)
	if at := f.Find(e.Parameter); at != nil {
		at.Problem, at.Focus = Typographic(e.Message), true
		return
	}
	f.Problem = Typographic(e.Message)
}

// Find returns a field, or nil.
func (f *Form) Find(name string) *Field {
	i := slices.IndexFunc(f.Fields, func(other Field) bool { return other.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Fields[i]
}

// Drop removes fields.
func (f *Form) Drop(names ...string) {
	f.Fields = slices.DeleteFunc(f.Fields, func(other Field) bool { return slices.Contains(names, other.Name) })
}

// FieldOf returns the field of a parameter, with what was entered.
func FieldOf(p command.Param, entered url.Values) Field {
	f := Field{
		Name: p.Name, Label: p.Name, Help: Typographic(p.Doc), Input: "text", Required: p.Required,
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
		f.Value = strings.Join(slices.DeleteFunc(slices.Clone(entered[p.Name]), func(s string) bool { return s == "" }),
			", ")
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
func optional(values []string) []Choice {
	choices := append(make([]Choice, 0, len(values)+1), Choice{Label: "(default)"})
	for _, value := range values {
		choices = append(choices, Choice{Value: value, Label: value})
	}
	return choices
}

// other is the heading of chosen values that are not offered.
const other = "Other"

// Choose makes a list's field offer choices. A chosen value that is no longer offered
// stays chosen.
func (f *Field) Choose(offered []Choice, chosen []string) {
	f.Input, f.Choices = "choices", offered
	for value := range strings.SplitSeq(strings.Join(chosen, ","), ",") {
		value = strings.TrimSpace(value)
		i := slices.IndexFunc(f.Choices, func(c Choice) bool { return c.Value == value })
		switch {
		case i >= 0:
			f.Choices[i].Chosen = true
		case value != "":
			f.Choices = append(f.Choices, Choice{Value: value, Label: value, Chosen: true, Area: other})
		}
	}
}

// ArgsOf returns the arguments that were entered in a command's form. It leaves out
// empty fields, except lists to choose from.
func ArgsOf(cmd command.Command, entered url.Values) command.Args {
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
		var value any = command.Text(text)
		if p.Type == "" {
			value = Decoded(text)
		}
		args = append(args, command.Arg{Name: p.Name, Value: value})
	}
	return args
}

// Stored returns the members of a view as a form has them.
func (v *Visit) Stored(view any) url.Values {
	document, err := value.Marshal(view)
	v.Fail(err)
	var members map[string]json.RawMessage
	_ = json.Unmarshal(document, &members) // a view is an object
	entered := make(url.Values)
	for name, member := range members {
		var text string
		var list []string
		switch {
		case json.Unmarshal(member, &text) == nil:
			entered.Set(name, text)
		case json.Unmarshal(member, &list) == nil:
			entered[name] = list
		default:
			entered.Set(name, Pretty(member))
		}
	}
	return entered
}

// Decoded returns a text as an argument of any type: decoded if it is JSON.
func Decoded(text string) any {
	if decoded, err := value.Decode(text); err == nil {
		return decoded
	}
	return command.Text(text)
}

// PasswordRule says which passwords are valid.
var PasswordRule = strconv.Itoa(limit.MinPassword) + " characters or more, and none of the common ones."
