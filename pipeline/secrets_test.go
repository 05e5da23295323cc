package pipeline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
	"sluice/problem"
)

// TestSecretsStayInside: a secret does its work within a run, and leaves it for
// people in no spelling.
func TestSecretsStayInside(t *testing.T) {
	tests := []struct{ name, source string }{
		{"the final body", `pipeline: [set: {value: {a: ["x #{secret('key')} y"]}}]`},
		{"the name of a field", `pipeline: [set: {value: "#{ {(secret('key')): 1} }"}]`},
		{"the final body by exit", `pipeline: [exit: {value: "#{secret('key')}"}]`},
		{"an error", `pipeline: [fail: {message: "x #{secret('key')} y"}]`},
		{"an error that is ignored", `pipeline: [fail: {message: "#{secret('key')}", onError: ignore}, set: {value: "#{vars.error}"}]`},
		{"an error of the parameter", `pipeline: [http.request: {url: x, method: "#{secret('key')}"}]`},
		{"an error inside", `pipeline: [set: {value: "#{secret('key')}", output: vars.a}, broken]`},
		{"an expression", `pipeline: [set: {value: "#{secret('key')}"}, set: {value: "#{body / 2}"}]`},
		{"a line of the log", `pipeline: [log: {message: "#{secret('key')}"}]`},
		{"a line of the log that is the body", `pipeline: [set: {value: {a: "#{secret('key')}"}}, log]`},
		{"as JSON", `pipeline: [set: {value: "#{toJSON({a: secret('quoted')})}"}]`},
		{"as JSON in an error", `pipeline: [fail: {message: "#{toJSON(secret('quoted'))}"}]`},
		{"from a pipeline within", `pipeline: [pipeline.run: {name: inner}]`},
		{"in a pipeline within", `pipeline: [pipeline.run: {name: says, vars: {a: "#{secret('key')}"}}]`},
		{"in a query", `pipeline: [set: {value: "#{replace(secret('quoted'), ' ', '%20')}"}]`},
		{"in base64", `pipeline: [set: {value: "#{toBase64(secret('key'))}"}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture()
			f.put(t, "inner", `pipeline: [fail: {message: "#{secret('key')}"}]`)
			f.put(t, "says", `pipeline: [log: {message: "#{vars.a}"}, fail: {message: "#{vars.a}"}]`)
			out, err := f.run(t, test.source)
			seen := fmt.Sprint(f.Logged)
			if err != nil {
				problem, _ := json.Marshal(problem.Of(err))
				seen += string(problem) + err.Error()
			}
			text, _ := json.Marshal(out)
			seen += string(text)
			for len(f.reports) > 0 {
				report, _ := json.Marshal(<-f.reports)
				seen += string(report)
			}
			for _, spelling := range []string{"s3cret", `a"b\c d`, `a\"b\\c d`, `a\\\"b`, `c%20d`, "czNjcmV0"} {
				if strings.Contains(seen, spelling) {
					t.Errorf("%s leaves the run: %s", spelling, seen)
				}
			}
		})
	}
}

// TestSecretsNeedThePermission: it is the owner's, not the caller's. Of an owner who is
// gone the error says that.
func TestSecretsNeedThePermission(t *testing.T) {
	f := newFixture()
	source := `pipeline: [set: {value: "#{len(secret('key'))}"}]`
	f.put(t, "rich", source)
	if out, err := f.callAs(t.Context(), "admin", "pipeline.run", arg("name", "rich")); err != nil || out != 6 {
		t.Errorf("the answer is %v, %v", out, err)
	}
	for owner, says := range map[string]string{"poor": "permission secret.use", "nobody": "There is no such user."} {
		if _, err := f.store.Change(t.Context(), "owned", func(*sluice.Pipeline, map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
			return &sluice.Pipeline{Name: "owned", Source: source, Owner: owner}, nil
		}); err != nil {
			t.Fatal(err)
		}
		_, err := f.call(t.Context(), "pipeline.run", arg("name", "owned"))
		e := sluice.AsError(err)
		if err == nil || problem.Status(e) != 403 {
			t.Errorf("owned by %s the error is %d: %v", owner, problem.Status(e), err)
		}
		if !strings.Contains(e.Message, says) {
			t.Errorf("owned by %s the error is %s", owner, e.Message)
		}
	}
}

// TestPermissions: each step needs the permission of whom the run is then.
func TestPermissions(t *testing.T) {
	f := newFixture()
	f.put(t, "switches", "pipeline: [set: {value: 1}, iam.run.as: {username: ada}, whoami]")
	run, _ := f.set.Find("pipeline.run")
	caller := sluice.User{Name: "caller", Permissions: []string{"pipeline.run", "set", "iam.run.as"}}
	ctx := sluice.WithUser(t.Context(), caller)
	if out, err := f.set.Call(ctx, run, command.Args{arg("name", "switches")}); err != nil || out != "ada" {
		t.Errorf("the answer is %v, %v", out, err)
	}
	_, err := f.set.Call(ctx, run, command.Args{arg("source", "pipeline: [set: {value: 1}, whoami]")})
	if e := pipelinetest.Refused(t, err, "forbidden", "Step 2, whoami (line 1): This needs the permission whoami"); e.Kind != sluice.Forbidden {
		t.Errorf("the kind is %s", e.Kind)
	}
}
