package expression_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/expression"
)

func FuzzCompile(f *testing.F) {
	for _, text := range []string{"", "plain", "#{body.x}", `\#{x} ${`, "#{ {\"a\": \"}\"}.a }", "#{1 // }\n}", "#{`}``}`}", "a#{1}b${'ä'}", "#{1<(1<(1<1<1)<1)<1}"} {
		f.Add(text)
	}
	for code := range values {
		f.Add("#{" + code + "}")
	}
	f.Fuzz(func(t *testing.T, text string) {
		template, err := language.Compile(text)
		if err == nil {
			if value, static := template.Static(); static && len(value) > len(text) {
				t.Errorf("the text grew: %q", value)
			}
			return
		}
		mistake, ok := errors.AsType[*expression.SyntaxError](err)
		if !ok {
			t.Fatalf("got %T", err)
		}
		if mistake.Offset < 0 || mistake.Offset > len(text) {
			t.Errorf("offset %d in %d bytes", mistake.Offset, len(text))
		}
		checkLine(t, mistake.Message)
	})
}

func FuzzEval(f *testing.F) {
	const payload = `{"name":"Ada","n":7,"f":1.5,"yes":true,"nothing":null,"items":[{"price":10,"tag":"a"}],"list":[3,1,2]}`
	for code := range values {
		f.Add(code, payload)
	}
	for _, code := range attacks {
		if strings.Contains(code, "1..") {
			continue // these are dear whatever the payload
		}
		f.Add(code, `{"s":"aaa","t":"aab","numbers":[1,2],"words":["a","b"],"wide":{"a":1},"deep":[[[]]]}`)
	}
	f.Fuzz(func(t *testing.T, code, payload string) {
		var body any
		if json.Unmarshal([]byte(payload), &body) != nil {
			body = payload
		}
		template, err := language.CompileExpression(code)
		if err != nil {
			return
		}
		value, err := template.Eval(&expression.Scope{Body: body, Secret: func(name string) (string, error) { return name, nil }})
		if err != nil {
			failure := sluice.AsError(err)
			if failure.Code != "expression-failed" {
				t.Fatalf("got %s: %v", failure.Code, err)
			}
			checkLine(t, failure.Message)
			if strings.Contains(failure.Message, "can't be computed") && !strings.Contains(code, "panic") {
				t.Errorf("it panicked: %s", failure.Message)
			}
			return
		}
		checkPlain(t, value, utf8.ValidString(payload))
		checkOutcome(t, value, nil)
	})
}

// checkLine refuses messages that are not one short printable line.
func checkLine(t *testing.T, message string) {
	t.Helper()
	if message == "" || len(message) > 2_000 || !utf8.ValidString(message) {
		t.Errorf("bad message %q", message)
	}
	for _, r := range message {
		if !unicode.IsPrint(r) {
			t.Errorf("%q has %U", message, r)
		}
	}
}

// checkPlain refuses what is not of a JSON type.
func checkPlain(t *testing.T, v any, valid bool) {
	t.Helper()
	switch v := v.(type) {
	case nil, bool, int, float64, json.Number:
	case string:
		if valid && !utf8.ValidString(v) {
			t.Errorf("%q is not UTF-8", v)
		}
	case []any:
		for _, item := range v {
			checkPlain(t, item, valid)
		}
	case map[string]any:
		for _, item := range v {
			checkPlain(t, item, valid)
		}
	default:
		t.Errorf("got a %T", v)
	}
}
