package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/run"
	"sluice/problem"
)

// TestRun: what runs come to, with all that a source may have.
func TestRun(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"the output is the body of the next step", `pipeline: [set: {value: ab}, convert.upper, pass]`, `"AB"`},
		{"an expression alone keeps its type", `pipeline: [set: {value: "#{1 + 1}"}]`, `2`},
		{"an expression in text becomes text", `pipeline: [set: {value: "n=#{1 + 1}"}]`, `"n=2"`},
		{"expressions at any depth", `pipeline: [set: {value: {a: [1, {b: "#{body ?? 'none'}"}]}}]`, `{"a":[1,{"b":"none"}]}`},
		{"null is a value", "body: 1\npipeline: [set: {value: null}]", `null`},
		{"JSON is a source", `{"pipeline": [{"set": {"value": "\ud83d\ude00"}}]}`, `"😀"`},
		{"numbers as only YAML has them", `pipeline: [set: {value: [.5, -.5, +1.5, 1_000.5, 1_000, +7, 0xFFFFFFFFFFFFFFFF]}]`, `[0.5,-0.5,1.5,1000.5,1000,7,18446744073709551615]`},
		{"numbers stay exact", `pipeline: [set: {value: [12345678901234567890, 0.1, 1e3, 0x10, 2030-01-31]}]`, `[12345678901234567890,0.1,1000,16,"2030-01-31"]`},
		{"sections refer to each other", "body: {n: 2}\nheaders: {X: \"#{body.n}!\"}\nvars: {a: \"#{headers.X}\", b: \"#{vars.a + vars.a}\"}\npipeline: [set: {value: \"#{vars.b}\"}]", `"2!2!"`},
		{"header keys keep their case", "headers: {X-a: one, x-a: two}\npipeline: [set: {value: \"#{headers['X-a'] + headers['x-a']}\"}]", `"onetwo"`},
		{"output to a variable leaves the body", "body: 1\npipeline: [set: {value: 2, output: vars.x}, set: {value: \"#{[body, vars.x]}\"}]", `[1,2]`},
		{"output to a header is text", "pipeline: [set: {value: 2, output: headers.X}, set: {value: \"#{headers}\"}]", `{"X":"2"}`},
		{"input in place of the body", "body: x\npipeline: [pass: {input: \"#{body}y\"}]", `"xy"`},
		{"input that is the command's own", "body: x\npipeline: [convert.upper: {input: \"#{body}y\"}]", `"XY"`},
		{"a step that is not done", "body: 1\npipeline: [set: {value: 2, if: \"#{body > 1}\"}, set: {value: \"#{body + 10}\", if: body == 1}]", `11`},
		{"if false and null only", "body: 0\npipeline: [set: {value: 1, if: '0'}, set: {value: 2, if: 'nil'}, set: {value: 3, if: false}]", `1`},
		{"one branch", "body: 5\npipeline: [if: {true: body > 3, then: [set: {value: many}], else: [set: {value: few}]}]", `"many"`},
		{"the other branch", "body: 2\npipeline: [if: {true: body > 3, then: [set: {value: many}], else: [set: {value: few}]}]", `"few"`},
		{"a branch that is not there", "body: 2\npipeline: [if: {true: false, then: [set: {value: 9}]}]", `2`},
		{"a loop", "body: 0\npipeline: [foreach: {in: [1, 2, 3], do: [set: {value: \"#{body + vars.item}\"}]}]", `6`},
		{"loops in loops", "body: []\npipeline:\n- foreach:\n    in: '#{1..2}'\n    do:\n    - foreach: {in: [a, b], as: other, do: [set: {value: \"#{concat(body, [string(vars.item) + vars.other])}\"}]}", `["1a","1b","2a","2b"]`},
		{"the loop's variable is its own", "vars: {item: before}\npipeline: [foreach: {in: [1], do: [pass]}, set: {value: \"#{vars}\"}]", `{"item":"before"}`},
		{"the loop's variable is gone behind it", "pipeline: [foreach: {in: [1], do: [pass]}, set: {value: \"#{vars}\"}]", `{}`},
		{"a loop over nothing", "body: {}\npipeline: [foreach: {in: 'body.items ?? []', do: [set: {value: 2}]}]", `{}`},
		{"exit ends loops and all", "pipeline: [foreach: {in: [1, 2], do: [exit: {value: \"#{vars.item}\"}]}, set: {value: 9}]", `1`},
		{"exit ignores output", "pipeline: [exit: {value: 1, output: vars.x}]", `1`},
		{"an error that is ignored leaves the body", "body: 1\npipeline: [fail: {message: no, statusCode: 418, onError: ignore, id: f}, set: {value: \"#{[body, vars.error]}\"}]",
			`[1,{"code":"failed","message":"Step 1, fail \"f\" (line 2): no","statusCode":418,"step":"fail (f)"}]`},
		{"an ignored block gives the body back", "body: 1\npipeline: [foreach: {in: [1], onError: ignore, do: [set: {value: 2}, fail: {message: no}]}]", `1`},
		{"a struct becomes plain", "pipeline: [http.request: {url: u, body: [1]}, set: {value: \"#{body.statusCode + body.body[0]}\"}]", `201`},
		{"the user", "pipeline: [set: {value: \"#{user.username}\", output: vars.a}, iam.run.as: {username: ada}, whoami, set: {value: \"#{[vars.a, body, user.username, user.roles]}\"}]", `["admin","ada","ada",["some"]]`},
		{"request", "pipeline: [set: {value: \"#{[request.attempt, request.traceId startsWith 'direct:']}\"}]", `[1,true]`},
		{"functions with the names of commands", "body: ab\npipeline: [set: {value: \"#{convert.upper(body)}\"}]", `"AB"`},
		{"what looks like an expression and is none", `pipeline: [set: {value: '\#{body}'}]`, `"#{body}"`},
		{"a variable in a value is as it was", "vars: {a: 1}\npipeline: [set: {value: \"#{vars}\"}, set: {value: 2, output: vars.a}]", `{"a":1}`},
		{"true may be a word of YAML", "pipeline: [if: {true: true, then: [set: {value: 1}]}]", `1`},
		{"a page is its items", "pipeline: [listing]", `[]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := newFixture(run.Limits{}).run(t, test.source)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if want := test.want; string(text) != want {
				t.Errorf("the body is %s, want %s", text, want)
			}
		})
	}
}

// TestRunFails: errors say which step failed and keep what kind they are of.
func TestRunFails(t *testing.T) {
	tests := []struct {
		name, source string
		code, says   string
		status       int
	}{
		{"the step's own error", "pipeline:\n- pass\n- fail: {message: no milk, statusCode: 418, id: f}", "failed", `Step 2, fail "f" (line 3): no milk`, 418},
		{"inside of blocks", "pipeline:\n- if:\n    true: true\n    then:\n    - foreach:\n        in: [1]\n        do:\n        - fail: {message: deep}", "failed", "Step 3, fail (line 8): deep", 500},
		{"an expression", "pipeline: [set: {value: '#{1 / 0}'}]", "expression-failed", "Step 1, set (line 1): The expression 1 / 0 failed", 400},
		{"an expression deep in a step", "pipeline:\n- set:\n    value:\n      a: 1\n      b: '#{1 / 0}'", "expression-failed", "Step 1, set (line 5): The expression 1 / 0 failed", 400},
		{"a condition at the end of a step", "pipeline:\n- set:\n    value: 1\n    if: '#{1 / 0}'", "expression-failed", "Step 1, set (line 4)", 400},
		{"a condition", "pipeline: [set: {value: 1, if: '#{1 / 0}'}]", "expression-failed", "Step 1, set (line 1)", 400},
		{"a condition of a block", "pipeline: [if: {true: '#{1 / 0}', then: [pass]}]", "expression-failed", "Step 1, if (line 1)", 400},
		{"a loop over no list", "pipeline: [foreach: {in: body, do: [pass]}]", "foreach-invalid", "in must be a list, not null", 400},
		{"a parameter of the wrong type", "pipeline: [http.request: {url: '#{1}'}]", "parameter-invalid", "The parameter url must be a string", 400},
		{"a parameter that is null", "pipeline: [http.request: {url: '#{nil}'}]", "parameter-missing", "The parameter url is required", 400},
		{"a body of the wrong type", "body: 1\npipeline: [convert.upper]", "parameter-invalid", "The parameter input must be a string", 400},
		{"a panic", "pipeline: [panics]", "step-panicked", "Step 1, panics (line 1): The step failed inside", 500},
		{"an error of no kind", "pipeline: [broken]", "internal", "Step 1, broken (line 1): The server failed", 500},
		{"a header that is no text", "pipeline: [set: {value: [1], output: headers.x}]", "header-invalid", "must be text, not a list", 400},
		{"a body that can't be computed", "body: '#{1 / 0}'\npipeline: [pass]", "expression-failed", "body: The expression", 400},
		{"a variable that can't be computed", "vars: {a: '#{1 / 0}'}\npipeline: [pass]", "expression-failed", "vars.a: The expression", 400},
		{"a source with mistakes", "pipeline: [passs, passes]", "pipeline-invalid", `Line 1: There is no command "passs"; did you mean pass? There is 1 more problem`, 400},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := newFixture(run.Limits{}).run(t, test.source)
			e := pipelinetest.Refused(t, err, test.code, test.says)
			if problem.Status(e) != test.status {
				t.Errorf("the status is %d, want %d", problem.Status(e), test.status)
			}
			if strings.Contains(e.Message, "s3cret") {
				t.Errorf("the error says too much: %s", e.Message)
			}
			if test.code != "pipeline-invalid" && !strings.HasPrefix(e.TraceID, "direct:") {
				t.Errorf("the error has the trace id %q", e.TraceID)
			}
		})
	}
}
