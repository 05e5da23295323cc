package step_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/problem"
	"sluice/step"
	"sluice/value"
	"sluice/wait"
)

// runSource runs a source of the built-in steps as admin, and returns its final body in JSON.
func runSource(t *testing.T, set command.Set, text string) (string, error) {
	t.Helper()
	out, err := runWith(t, set, text, nil)
	if err != nil {
		return "", err
	}
	written, err := json.Marshal(out.Body)
	return string(written), err
}

// runWith runs a source as admin with secrets, and returns its outcome.
func runWith(t *testing.T, set command.Set, text string, secrets map[string]string, change ...func(*sluice.Run)) (out run.Outcome, err error) {
	t.Helper()
	program, err := source.Parse(text, set, expression.NewLanguage(step.Functions()))
	if err != nil {
		return out, err
	}
	admin := sluice.User{Name: "admin", Permissions: []string{"*"}}
	start := run.Start{
		Run:     &sluice.Run{TraceID: "direct:0123456789", Owner: func(context.Context) (sluice.User, error) { return admin, nil }},
		Request: map[string]any{"attempt": 1},
		Attempt: 1,
	}
	start.Run.Switch(admin)
	for _, c := range change {
		c(start.Run)
	}
	return run.Run(t.Context(), run.Environment{
		Call:   set.Call,
		Secret: func(_ context.Context, name string) (string, error) { return secrets[name], nil },
		Pause:  wait.For,
		Log:    slog.New(slog.DiscardHandler),
	}, program, start)
}

// TestSteps: what pipelines come to, one per built-in step and way to handle errors.
func TestSteps(t *testing.T) {
	var log bytes.Buffer
	set := newSet(step.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	tests := []struct {
		name, source string
		want         string // the final body
		status       int    // of a failure
		code, detail string
	}{
		{name: "set", source: `pipeline: [set: {value: {a: 1}}]`, want: `{"a":1}`},
		{name: "set a variable", source: "body: 1\npipeline: [set: {value: 2, output: vars.x}, set: {value: '#{[body, vars.x]}'}]", want: `[1,2]`},
		{name: "wait passes the body on", source: "body: 1\npipeline: [wait: {duration: 1ms}]", want: `1`},
		{name: "log passes the body on", source: "body: {a: 1}\npipeline: [log: {message: 'from #{user.username}', level: warn}]", want: `{"a":1}`},
		{name: "assert that holds", source: "body: 3\npipeline: [assert: {true: '#{body > 2}', message: no}]", want: `3`},
		{name: "assert that doesn't", source: "body: 1\npipeline: [assert: {true: '#{body > 2}', message: too few}]", status: 400, code: "assertion-failed", detail: "Step 1, assert (line 2): too few"},
		{name: "fail", source: `pipeline: [fail: {message: no milk}]`, status: 500, code: "failed", detail: "no milk"},
		{name: "fail with a status", source: `pipeline: [fail: {message: no milk, statusCode: 409}]`, status: 409, code: "failed", detail: "no milk"},
		{name: "exit", source: "pipeline: [exit: {value: 1}, fail: {message: no}]", want: `1`},
		{name: "exit with the body", source: "body: 7\npipeline: [foreach: {in: [1], do: [exit]}, fail: {message: no}]", want: `7`},
		{name: "if", source: "body: 5\npipeline: [if: {true: body > 3, then: [set: {value: many}], else: [set: {value: few}]}]", want: `"many"`},
		{name: "foreach", source: "body: 0\npipeline: [foreach: {in: '#{1..4}', as: n, do: [set: {value: '#{body + vars.n}'}]}]", want: `10`},
		{name: "${ } is #{ }", source: "body: 2\npipeline: [set: {value: '${body * 2}'}]", want: `4`},
		{name: "numbers stay exact", source: `pipeline: [set: {value: [9007199254740993, 12345678901234567890, 0.1]}]`, want: `[9007199254740993,12345678901234567890,0.1]`},
		{name: "JSON is a source", source: `{"pipeline": [{"set": {"value": "\u00e4"}}]}`, want: `"ä"`},
		{name: "CSV", source: "body: \"a,b\\n1,2\\n\"\npipeline: [convert.fromCsv, convert.toJson]", want: `"[{\"a\":\"1\",\"b\":\"2\"}]"`},
		{name: "base64", source: `pipeline: [set: {value: "#{convert.fromBase64('aGk=')}"}]`, want: `"hi"`},
		{name: "YAML", source: `pipeline: [convert.fromYaml: {input: "a: [1]"}]`, want: `{"a":[1]}`},

		{name: "onError throw", source: `pipeline: [fail: {message: no, onError: throw}]`, status: 500, code: "failed"},
		{name: "onError ignore", source: "body: 1\npipeline: [fail: {id: f, message: no, statusCode: 418, onError: ignore}, set: {value: '#{[body, vars.error.code, vars.error.statusCode, vars.error.step]}'}]", want: `[1,"failed",418,"fail (f)"]`},
		{name: "onError ignore of a block", source: "body: 1\npipeline: [foreach: {in: [1], onError: ignore, do: [set: {value: 2}, fail: {message: no}]}]", want: `1`},
		{name: "onError retry that runs out", source: `pipeline: [fail: {message: no, statusCode: 503, onError: {retry: {times: 3, wait: 1ms}}}]`, status: 503, code: "failed"},
		{name: "an expression that fails", source: `pipeline: [set: {value: "#{1 / 0}"}]`, status: 400, code: "expression-failed", detail: "1 / 0"},
		{name: "a member of nothing", source: `pipeline: [set: {value: "#{body.a.b}"}]`, status: 400, code: "expression-failed"},
		{name: "a source with mistakes", source: "pipeline:\n- st: {value: 1}\n- set: {vlaue: 1}", status: 400, code: "pipeline-invalid", detail: `Line 2: There is no command "st"; did you mean set?`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := runSource(t, set, test.source)
			if test.code == "" {
				if err != nil || got != test.want {
					t.Errorf("it came to %s, %v, want %s", got, err, test.want)
				}
				return
			}
			if e := sluice.AsError(err); e.Code != test.code || problem.Status(e) != test.status || !strings.Contains(e.Message, test.detail) {
				t.Errorf("it failed with %d, %s: %v; want %d, %s: …%s…", problem.Status(e), e.Code, err, test.status, test.code, test.detail)
			}
		})
	}
	if !strings.Contains(log.String(), `msg="from admin"`) {
		t.Errorf("the log lacks the line of log: %s", &log)
	}
}

// TestTooDeep: what is too deep is refused in the same way, whatever is done with it.
func TestTooDeep(t *testing.T) {
	set := newSet(step.Options{})
	deep := strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1)
	deeper := "[" + deep + "]"
	for name, text := range map[string]string{
		"fromJson":         "pipeline: [convert.fromJson: {input: '" + deeper + "'}]",
		"fromYaml":         "pipeline: [convert.fromYaml: {input: '" + deeper + "'}]",
		"a list around it": "body: '" + deep + "'\npipeline: [convert.fromJson, set: {value: ['#{body}']}]",
		"a function":       `pipeline: [set: {value: "#{convert.fromJson('` + deeper + `')}"}]`,
	} {
		_, err := runSource(t, set, text)
		if e := sluice.AsError(err); e.Code != "value-too-deep" || !strings.Contains(e.Message, "nested more than 1000 deep") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
