package expression_test

import (
	"errors"
	"strings"
	"testing"

	"sluice/expression"
)

func TestMistakes(t *testing.T) {
	deep := strings.Repeat("(1<", 100) + "1" + strings.Repeat("<1)<1", 100)
	for _, c := range []struct {
		text    string
		offset  int
		message string // its start
	}{
		{"a #{body.x", 2, `The expression that starts here is never closed with }; write \#{ for the characters themselves.`},
		{"${", 0, `The expression that starts here is never closed with }; write \${ for`},
		{"#{1 // }", 0, "The expression that starts here is never closed"},
		{`#{"}`, 0, "The expression that starts here is never closed"},
		{`#{"\`, 0, "The expression that starts here is never closed"},
		{"#{/* }", 0, "The expression that starts here is never closed"},
		{"#{}", 2, "The expression is empty."},
		{"#{ // x\n }", 9, "The expression ends too early."},
		{"#{1 +}", 5, "The expression ends too early."},
		{"#{1 1}", 4, `"1" is not expected here.`},
		{"äö#{1 ? }", 10, "The expression ends too early."},
		{"#{1 + 'ä' + ~}", 13, "Unrecognized character"},
		{"#{bdy.x}", 2, "There is no bdy; did you mean body?"},
		{"é#{1 + Body.x}", 8, "There is no Body; did you mean body?"},
		{"#{Null}", 2, "There is no Null; did you mean null?"},
		{"#{let count1 = 1; cuont1}", 18, "There is no cuont1; did you mean count1?"},
		{"#{somethingElse}", 2, "There is no somethingElse; there are body, headers, request, user and vars."},
		{"#{$env}", 2, "There is no $env; there are"},
		{"#{body + lenn(body)}", 9, "There is no function lenn; did you mean len?"},
		{"#{convert.fromBase46(1)}", 10, "There is no function convert.fromBase46; did you mean convert.fromBase64?"},
		{"#{body.x()}", 7, "There is no function body.x"},
		{"#{body[0]()}", 9, `"(" is not expected here`},
		{"#{convert}", 2, "convert holds functions such as convert.fromBase64: call one with (…)."},
		{"#{convert.fromBase64}", 10, "convert.fromBase64 is a function: call it with (…)."},
		{"#{len}", 2, "len is a function: call it with (…)."},
		{"#{secret}", 2, "secret is a function: call it with (…)."},
		{"#{secret(body.x)}", 2, "secret needs its name in quotes, not computed."},
		{"#{secret()}", 2, "secret needs one name in quotes."},
		{"#{timezone('UTC')}", 2, "The function timezone is not available; give date the name of the zone"},
		{"#{take([1])}", 2, "take got 1 values; use take(list, n): its first n items."},
		{"#{now(1)}", 2, "now got 1 values; use now(): the time, in UTC."},
		{"#{filter(body)}", 13, "Expected at least 2 arguments."},
		{"#{let body = 1; body}", 6, "The name body is taken; choose another one."},
		{"#{let convert = 1; 1}", 6, "The name convert is taken"},
		{"#{let len = 1; 1}", 6, "The name len is taken"},
		{"#{let a = 1; let a = 2; a}", 17, "The name a is taken"},
		{"#{# > 1}", 2, `"#" is not expected here; # and .name stand for the item`},
		{"#{body.x = 1}", 9, `"=" is not expected here; to compare, write ==.`},
		{"#{map(body.a, x => x.qty)}", 16, `"=" is not expected here; a function of each item is written without =>, as in map(items, .price)`},
		{"#{if body.a then 1 else 2}", 12, `"then" is not expected here; a choice is written condition ? one : other.`},
		{"#{{ body.x }}", 8, `"." is not expected here; write #{…}, with one pair of braces.`},
		{"#{12345678901234567890}", 21, "The number is too large."},
		{"#{1e999}", 6, "The number is too large."},
		{"#{map(body, #acc)}", 12, "#acc is there within reduce only."},
		{"#{map(body, #foo)}", 12, "There is no #foo; there are #, #index and #acc."},
		{"#{b'abc'}", 2, "There are no byte strings here"},
		{"#{'a' matches body.x}", 6, "matches needs its pattern as a text in quotes"},
		{"#{'a' matches '('}", 14, "The pattern is not a regular expression: missing closing ): `(`."},
		{"#{'a' matches '(x{30}){40}'}", 14, "The pattern is not a regular expression: invalid repeat count"},
		{"#{'a' matches 'x{999}y{999}'}", 14, "The pattern is too large"},
		{"#{'a' matches '" + strings.Repeat("x", 1001) + "'}", 14, "The pattern is longer than 1000 bytes."},
		{"#{\xff}", 2, "The expression is not UTF-8."},
		{"x#{" + strings.Repeat(" ", 4097) + "}", 3, "The expression has 4097 bytes, at most 4096 are allowed"},
		{"#{" + strings.Repeat("1,", 100) + "}", 3, `"," is not expected here`},
		{"#{[" + strings.Repeat("1,", 2000) + "]}", 4003, "The expression has more than 2000 parts"},
		{"#{" + strings.Repeat("!", 201) + "true}", 202, "The expression is nested more than 200 deep."},
		{"#{" + strings.Repeat("(", 2000) + "1}", 2003, "The expression ends too early."},
		{"#{body" + strings.Repeat(".a", 900) + "}", -1, "The expression is nested more than 200 deep."},
		{"#{['a' matches 'x{600}', 'a' matches 'y{600}']}", 37, "The pattern is too large"},
		{"#{'a' matches '" + strings.Repeat(`\\pL`, 20) + "'}", 14, "The pattern is too large"},
		{"#{" + deep + "}", -1, "The expression "},
		{"#{" + strings.Repeat("(1?:", 500) + "1" + strings.Repeat(")", 500) + "}", -1, "The expression "},
		{"#{1" + strings.Repeat("?:1", 1000) + "}", -1, "The expression "},
	} {
		_, err := language.Compile(c.text)
		mistake, ok := errors.AsType[*expression.SyntaxError](err)
		short := c.text[:min(len(c.text), 60)]
		if !ok {
			t.Errorf("%s: got %v", short, err)
			continue
		}
		if !strings.HasPrefix(mistake.Message, c.message) {
			t.Errorf("%s: got %q, want %q", short, mistake.Message, c.message)
		}
		if c.offset >= 0 && mistake.Offset != c.offset {
			t.Errorf("%s: at %d, want %d (%s)", short, mistake.Offset, c.offset, mistake.Message)
		}
	}
}

func TestOffsetsOfBareCode(t *testing.T) {
	for code, offset := range map[string]int{"  bdy": 2, "  #{bdy}": 4, " #{1} x": 1, "1 +": 3} {
		_, err := language.CompileExpression(code)
		mistake, ok := errors.AsType[*expression.SyntaxError](err)
		if !ok || mistake.Offset != offset {
			t.Errorf("%q: got %v, want offset %d", code, err, offset)
		}
	}
}
