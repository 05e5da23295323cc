package command_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/command"
)

type greetParams struct {
	Name   string   `json:"name" alias:"who" required:"true" doc:"Whom to greet."`
	Times  *int     `json:"times" min:"1" max:"3" doc:"How often."`
	Tone   *string  `json:"tone" enum:"warm,cold" doc:"How."`
	Silent bool     `json:"silent" doc:"Not at all."`
	Also   []string `json:"also" doc:"Whom else."`
}

func greet() command.Command {
	return command.New("test.greet", "Greet someone.",
		func(_ context.Context, p greetParams) (greetParams, error) { return p, nil })
}

func ignore(context.Context, sluice.AuditEntry) {}

func call(ctx context.Context, args command.Args) (any, error) {
	c := greet()
	return command.NewSet(ignore, []command.Command{c}).Call(ctx, c, args)
}

func as(permissions ...string) context.Context {
	return sluice.WithUser(context.Background(), sluice.User{Name: "someone", Permissions: permissions})
}

func TestArgumentsBecomeParameters(t *testing.T) {
	tests := map[string]struct {
		args command.Args
		want greetParams
	}{
		"text is parsed as the type wants": {
			command.Args{{Name: "name", Value: command.Text("Ada")}, {Name: "times", Value: command.Text("2")}, {Name: "silent", Value: command.Text("true")}},
			greetParams{Name: "Ada", Times: new(2), Silent: true},
		},
		"JSON values have their type": {
			command.Args{{Name: "name", Value: "Ada"}, {Name: "times", Value: json.Number("3")}, {Name: "silent", Value: false}},
			greetParams{Name: "Ada", Times: new(3)},
		},
		"another name is accepted":             {command.Args{{Name: "who", Value: "Ada"}}, greetParams{Name: "Ada"}},
		"what is not given stays nil":          {command.Args{{Name: "name", Value: ""}}, greetParams{}},
		"the same value twice is no conflict":  {command.Args{{Name: "name", Value: "Ada"}, {Name: "who", Value: command.Text("Ada")}}, greetParams{Name: "Ada"}},
		"one of the values that are allowed":   {command.Args{{Name: "name", Value: "Ada"}, {Name: "tone", Value: "warm"}}, greetParams{Name: "Ada", Tone: new("warm")}},
		"a list in a text":                     {command.Args{{Name: "name", Value: "Ada"}, {Name: "also", Value: command.Text("Bob, Eve")}}, greetParams{Name: "Ada", Also: []string{"Bob", "Eve"}}},
		"a list as an array":                   {command.Args{{Name: "name", Value: "Ada"}, {Name: "also", Value: []any{"Bob"}}}, greetParams{Name: "Ada", Also: []string{"Bob"}}},
		"an empty list":                        {command.Args{{Name: "name", Value: "Ada"}, {Name: "also", Value: command.Text("")}}, greetParams{Name: "Ada", Also: []string{}}},
		"the ends of a range are inside of it": {command.Args{{Name: "name", Value: "Ada"}, {Name: "times", Value: json.Number("1")}}, greetParams{Name: "Ada", Times: new(1)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := call(as("test.greet"), test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadArgumentsAreNamed(t *testing.T) {
	ada := command.Arg{Name: "name", Value: "Ada"}
	tests := map[string]struct {
		args      command.Args
		code      string
		parameter string
		says      string
	}{
		"missing":           {nil, "parameter-missing", "name", "is required: Whom to greet."},
		"unknown":           {command.Args{ada, {Name: "tims", Value: "x"}}, "parameter-unknown", "tims", "did you mean times?"},
		"unknown, far off":  {command.Args{ada, {Name: "qqqqqqq", Value: "x"}}, "parameter-unknown", "qqqqqqq", "it takes name, times, tone, silent, also"},
		"two values":        {command.Args{ada, {Name: "name", Value: "Bob"}}, "parameter-conflict", "name", "once"},
		"two names":         {command.Args{ada, {Name: "who", Value: "Bob"}}, "parameter-conflict", "name", "once"},
		"not an integer":    {command.Args{ada, {Name: "times", Value: command.Text("two")}}, "parameter-invalid", "times", "an integer from 1 to 3"},
		"a fraction":        {command.Args{ada, {Name: "times", Value: json.Number("1.5")}}, "parameter-invalid", "times", "an integer"},
		"text for a number": {command.Args{ada, {Name: "times", Value: "2"}}, "parameter-invalid", "times", "an integer"},
		"too small":         {command.Args{ada, {Name: "times", Value: json.Number("0")}}, "parameter-invalid", "times", "not 0"},
		"too large":         {command.Args{ada, {Name: "times", Value: json.Number("99999999999999999999")}}, "parameter-invalid", "times", "an integer"},
		"not a boolean":     {command.Args{ada, {Name: "silent", Value: command.Text("yes")}}, "parameter-invalid", "silent", "true or false"},
		"not in the list":   {command.Args{ada, {Name: "tone", Value: "loud"}}, "parameter-invalid", "tone", "warm, cold"},
		"not a list":        {command.Args{ada, {Name: "also", Value: json.Number("1")}}, "parameter-invalid", "also", "a list of strings"},
		"not a string":      {command.Args{{Name: "name", Value: map[string]any{}}}, "parameter-invalid", "name", "a string"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := call(as("test.greet"), test.args)
			if err == nil {
				t.Fatal("it was accepted")
			}
			e := sluice.AsError(err)
			if e.Kind != sluice.Invalid || e.Code != test.code || e.Parameter != test.parameter || !strings.Contains(e.Message, test.says) || strings.HasSuffix(e.Message, "..") {
				t.Errorf("got %s for parameter %s: %s", e.Code, e.Parameter, e.Message)
			}
		})
	}
}

func TestACommandNeedsItsPermission(t *testing.T) {
	args := command.Args{{Name: "name", Value: "Ada"}}
	for _, permission := range []string{"test.greet", "test.*", "*"} {
		if _, err := call(as(permission), args); err != nil {
			t.Errorf("with %s: %v", permission, err)
		}
	}
	for _, permissions := range [][]string{nil, {"test"}, {"test.greeting"}, {"other.*"}} {
		_, err := call(as(permissions...), args)
		if err == nil || sluice.AsError(err).Kind != sluice.Forbidden || !strings.Contains(err.Error(), "test.greet") {
			t.Errorf("with %v: got %v", permissions, err)
		}
	}
	if _, err := call(context.Background(), args); err == nil {
		t.Error("nobody at all may call it")
	}
}

func TestBadDeclarationsPanic(t *testing.T) {
	noop := func(context.Context, struct{}) (any, error) { return nil, nil }
	tests := map[string]func(){
		"a bad name":          func() { command.New("Test Greet", "Greet.", noop) },
		"no summary":          func() { command.New("test.greet", "", noop) },
		"the same name twice": func() { command.NewSet(ignore, []command.Command{greet()}, []command.Command{greet()}) },
		"a field without a doc": func() {
			command.New("test.greet", "Greet.", func(context.Context, struct {
				Name string `json:"name"`
			}) (any, error) {
				return nil, nil
			})
		},
		"an unsupported type": func() {
			command.New("test.greet", "Greet.", func(context.Context, struct {
				Names chan int `json:"names" doc:"Names."`
			}) (any, error) {
				return nil, nil
			})
		},
	}
	for name, declare := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was accepted")
				}
			}()
			declare()
		})
	}
}

func TestASetFindsItsCommands(t *testing.T) {
	set := command.NewSet(ignore, []command.Command{greet()})
	if _, ok := set.Find("test.greet"); !ok {
		t.Error("the command is not found")
	}
	if _, ok := set.Find("test.gree"); ok {
		t.Error("another command is found")
	}
	if near := set.Nearest("test.great"); near != "test.greet" {
		t.Errorf("the nearest name is %q", near)
	}
	if near := set.Nearest("something.else.entirely"); near != "" {
		t.Errorf("%q is taken for a slip", near)
	}
	page := set.Reference()
	for _, want := range []string{"## test.greet", "Greet someone.", "`name` (also `who`), required", "an integer from 1 to 3", "one of warm, cold"} {
		if !strings.Contains(page, want) {
			t.Errorf("the reference lacks %q:\n%s", want, page)
		}
	}
}

// TestAPeriod: where a command has from and to, they must be in that order.
func TestAPeriod(t *testing.T) {
	find := command.New("test.find", "Find something.", func(context.Context, struct {
		From time.Time `json:"from" doc:"Earliest time."`
		To   time.Time `json:"to" doc:"Latest time."`
	}) (any, error) {
		return nil, nil
	})
	set := command.NewSet(ignore, []command.Command{find})
	const noon, before, elsewhere = "2030-01-31T12:00:00Z", "2030-01-31T11:59:59Z", "2030-01-31T11:00:00-01:00"
	for name, test := range map[string]struct {
		from, to string
		ok       bool
	}{
		"open":             {"", "", true},
		"without an end":   {noon, "", true},
		"without a start":  {"", noon, true},
		"a moment":         {noon, noon, true},
		"the wrong way":    {noon, before, false},
		"in another place": {noon, elsewhere, true},
	} {
		var args command.Args
		for _, arg := range []command.Arg{{Name: "from", Value: test.from}, {Name: "to", Value: test.to}} {
			if arg.Value != "" {
				args = append(args, arg)
			}
		}
		if _, err := set.Call(as("*"), find, args); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
