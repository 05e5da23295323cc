package expression_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/expression"
)

// language has the functions that the tests call.
var language = expression.NewLanguage(map[string]expression.Function{
	"convert.fromBase64": func(args ...any) (any, error) { return args[0], nil },
	"convert.toNumbers":  func(...any) (any, error) { return []any{1, 2}, nil },
	"test.fail":          func(...any) (any, error) { return nil, errors.New("disk /var/secret is full") },
	"test.refuse": func(...any) (any, error) {
		return nil, sluice.Code("later").Errorf("Try again later.").OfKind(sluice.Unavailable)
	},
	"test.panic":    func(...any) (any, error) { panic("password 123") },
	"test.struct":   func(...any) (any, error) { return struct{ A int }{1}, nil },
	"deep.er.count": func(args ...any) (any, error) { return len(args), nil },
})

func scope() *expression.Scope {
	return &expression.Scope{
		Body: map[string]any{
			"name": "Ada", "n": 7, "f": 1.5, "yes": true, "nothing": nil, "wörter": "äöü",
			"items": []any{map[string]any{"price": 10, "tag": "a"}, map[string]any{"price": 2.5, "tag": "b"}, map[string]any{"price": 4, "tag": "a"}},
			"list":  []any{3, 1, 2}, "large": json.Number("123456789012345678901234567890"),
			"object": map[string]any{"b": 1, "a": []any{"x", nil, true}},
		},
		Vars:    map[string]any{"x": 1},
		Headers: map[string]any{"content-type": "application/json"},
		Request: map[string]any{"method": "POST", "size": 5, "list": []any{"a", "b"}},
		User:    map[string]any{"name": "admin"},
		Secret: func(name string) (string, error) {
			if name == "key" {
				return "s3cret", nil
			}
			return "", sluice.CodeSecretUnknown.Errorf("There is no secret %s.", name)
		},
	}
}

func TestTemplates(t *testing.T) {
	for _, c := range []struct {
		text string
		want any
	}{
		{"", ""},
		{"plain", "plain"},
		{"#{body.n}", 7},
		{"${body.n}", 7},
		{"#{body.n}\n", 7},
		{" #{body.n}", " 7"},
		{"#{body.f}", 1.5},
		{"#{body.yes}", true},
		{"#{body.nothing}", nil},
		{"#{body.list}", []any{3, 1, 2}},
		{"#{body.n}#{body.n}", "77"},
		{"a#{body.n}b${body.f}c", "a7b1.5c"},
		{"[#{body.nothing}|#{body.yes}|#{body.name}]", "[|true|Ada]"},
		{"#{body.object}!", `{"a":["x",null,true],"b":1}!`},
		{"#{body.large}", json.Number("123456789012345678901234567890")},
		{"=#{body.large}", "=123456789012345678901234567890"},
		{"=#{1e21} #{1e-7} #{3.0} #{0.1}", "=1e+21 1e-7 3 0.1"},
		{`\#{body.n}`, "#{body.n}"},
		{`\${body.n}`, "${body.n}"},
		{`\\#{body.n}`, `\#{body.n}`},
		{`\n \# # $ { } #x $x`, `\n \# # $ { } #x $x`},
		{`a\#{#{body.n}}`, "a#{7}"},
		{"#", "#"},
		{"$", "$"},
		{`\`, `\`},
		{`#{ {"a": "}"}.a }`, "}"},
		{`#{ {"a": {"b": 1}}.a.b }`, 1},
		{`#{'}'}`, "}"},
		{"#{`}`}", "}"},
		{"#{`a``}`}", "a`}"},
		{`#{"\"}"}`, `"}`},
		{`#{'\'}'}`, `'}`},
		{"#{1 /* } */ + 1}", 2},
		{"#{1 // }\n + 1}", 2},
		{"#{6 / 2}", 3.0},
		{`#{"#{"}`, "#{"},
		{"#{filter(body.list, {# > 1})}", []any{3, 2}},
		{"#{map(body.list, #) | len()}", 3},
		{"#{let a = 2; a * body.n}", 14},
		{"#{let a = 1; a}-#{let b = 2; let c = 3; b + c}", "1-5"},
		{"#{if body.yes { 1 } else { 2 }}", 1},
		{"äöü#{body.n}", "äöü7"},
		{"#{body.wörter}", "äöü"},
	} {
		template, err := language.Compile(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := template.Eval(scope())
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
}

func TestStatic(t *testing.T) {
	for text, want := range map[string]string{"": "", "a b": "a b", `\#{x}`: "#{x}"} {
		template, err := language.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := template.Static(); !ok || got != want {
			t.Errorf("%q: got %q, %v", text, got, ok)
		}
	}
	template, err := language.Compile("a#{1}")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := template.Static(); ok || got != "" {
		t.Errorf("a text with an expression is static: %q", got)
	}
}

func TestCompileExpressionTakesBothForms(t *testing.T) {
	for _, code := range []string{"body.n == 7", " body.n == 7 ", "#{body.n == 7}", " ${ body.n == 7 }\n"} {
		template, err := language.CompileExpression(code)
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if got, err := template.Eval(scope()); got != true || err != nil {
			t.Errorf("%s: got %v, %v", code, got, err)
		}
	}
	for _, code := range []string{"#{1} #{2}", "#{1} == 1", "#{1", ""} {
		if _, err := language.CompileExpression(code); err == nil {
			t.Errorf("%s: no error", code)
		}
	}
}

func TestEvalWithoutScope(t *testing.T) {
	for text, want := range map[string]any{"#{body}": nil, "#{vars.x}": nil, "#{user}": map[string]any{}} {
		template, err := language.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := template.Eval(nil)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
}

func TestOneTemplateRunsManyTimesAtOnce(t *testing.T) {
	template, err := language.Compile(`#{let least = 2; sortBy(filter(body.items, .price > least), .price) | map([.tag, #index, least]) | toJSON()}`)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 200 {
				if got, err := template.Eval(scope()); err != nil || got != `[["b",0,2],["a",1,2],["a",2,2]]` {
					t.Errorf("got %v, %v", got, err)
					return
				}
			}
		})
	}
	running.Wait()
}

func TestBadFunctionsStopTheStart(t *testing.T) {
	fine := func(...any) (any, error) { return 1, nil }
	for name, function := range map[string]expression.Function{
		"plain": fine, "body.x": fine, "a.": fine, "a b.c": fine, "len": fine, "a.b": nil,
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", name)
				}
			}()
			expression.NewLanguage(map[string]expression.Function{name: function})
		}()
	}
}
