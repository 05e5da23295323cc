package pipeline_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
)

// show returns an answer as JSON.
func show(t *testing.T, answer any, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// object returns an answer that is an object.
func object(t *testing.T, answer any, err error) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(show(t, answer, err)), &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// TestPutBinds: the binding changes only when it must, and never leaves a gap.
func TestPutBinds(t *testing.T) {
	f := newFixture()
	steps := []struct {
		source   string
		bound    []string
		binds    int // bindings made so far
		warnings bool
	}{
		{listening + "- pass", []string{"svc.event.webhook.a"}, 1, false},
		{listening + "- pass\n- pass", []string{"svc.event.webhook.a"}, 1, false},
		{"pipeline:\n- event.listen: {key: 'webhook.*'}\n- pass", []string{"svc.event.webhook.*"}, 2, true},
		{"concurrency: 1\npipeline:\n- event.listen: {key: 'webhook.*'}\n- pass", []string{"svc.event.webhook.*"}, 2, false},
		{"pipeline:\n- message.receive: {key: orders.#}\n- pass", []string{"orders.#"}, 3, true},
		{"pipeline: [pass]", nil, 3, false},
		{"pipeline:\n- message.receive: {key: svc.event.webhook.a}\n- pass", []string{"svc.event.webhook.a"}, 4, false},
	}
	for _, step := range steps {
		answer, err := f.call(t.Context(), "pipeline.put", arg("name", "p"), arg("source", step.source))
		got := object(t, answer, err)
		if bound := f.queue.bound(); !slices.Equal(bound, step.bound) || f.queue.count != step.binds {
			t.Errorf("bound are %v after %d, want %v after %d", bound, f.queue.count, step.bound, step.binds)
		}
		if want := strings.Join(step.bound, ""); want != "" && got["listens"] != want {
			t.Errorf("it listens to %v, want %s", got["listens"], want)
		}
		if (got["warnings"] != nil) != step.warnings {
			t.Errorf("the warnings are %v", got["warnings"])
		}
		if got["owner"] != "admin" || got["name"] != "p" || got["created"] == nil || got["updated"] == nil {
			t.Errorf("the answer is %v", got)
		}
	}
	answer, err := f.call(t.Context(), "pipeline.delete", arg("name", "p"))
	if got := show(t, answer, err); got != `{"name":"p","deleted":true}` {
		t.Errorf("the answer is %s", got)
	}
	if bound := f.queue.bound(); len(bound) > 0 {
		t.Errorf("bound are still %v", bound)
	}
}

// TestPutRefuses: what is refused leaves nothing behind.
func TestPutRefuses(t *testing.T) {
	f := newFixture()
	f.put(t, "kept", listening+"- pass")
	for _, name := range []string{"", "A", "../x", "a/b", ".a", "-a", "a b", "ä", strings.Repeat("a", 129), "a\n"} {
		_, err := f.call(t.Context(), "pipeline.put", arg("name", name), arg("source", "pipeline: [pass]"))
		pipelinetest.Refused(t, err, "parameter-invalid", "name of a pipeline")
	}
	_, err := f.call(t.Context(), "pipeline.put", arg("name", "a"), arg("source", "pipeline: [passs]"))
	pipelinetest.Refused(t, err, "pipeline-invalid", "did you mean pass?")
	listener := sluice.User{Name: "x", Permissions: []string{"pipeline.put"}}
	put, _ := f.set.Find("pipeline.put")
	_, err = f.set.Call(sluice.WithUser(t.Context(), listener), put, command.Args{arg("name", "a"), arg("source", listening+"- pass")})
	pipelinetest.Refused(t, err, "forbidden", "event.listen")

	f.store.broken = errors.New("disk")
	_, err = f.call(t.Context(), "pipeline.put", arg("name", "a"), arg("source", "pipeline:\n- event.listen: {key: b}\n- pass"))
	pipelinetest.Refused(t, err, "internal", "")
	f.store.broken = nil
	f.queue.broken = sluice.Code("engine").Errorf("Not now.").OfKind(sluice.Unavailable)
	_, err = f.call(t.Context(), "pipeline.put", arg("name", "a"), arg("source", "pipeline:\n- event.listen: {key: b}\n- pass"))
	pipelinetest.Refused(t, err, "engine", "")
	if bound := f.queue.bound(); len(bound) != 1 {
		t.Errorf("bound are %v", bound)
	}
	if p, _ := f.store.Get(t.Context(), "a"); p != nil {
		t.Errorf("stored is %+v", p)
	}
}

// TestPutKeepsTheTime: of creation, while that of the last change moves on.
func TestPutKeepsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		created := time.Now().UTC()
		f.put(t, "p", "pipeline: [pass]")
		time.Sleep(time.Hour) // of the bubble's clock
		f.put(t, "p", "pipeline: [pass, pass]")
		p, err := f.store.Get(t.Context(), "p")
		if err != nil || !p.Created.Equal(created) || !p.Updated.Equal(created.Add(time.Hour)) {
			t.Errorf("the pipeline is %+v, %v", p, err)
		}
	})
}

// TestPutInDoubt: a change that was made although it failed keeps its binding,
// otherwise the pipeline would wait for events for ever.
func TestPutInDoubt(t *testing.T) {
	f := newFixture()
	f.store.doubtful = sluice.Code("engine").Errorf("It may be stored or not.").OfKind(sluice.Unavailable)
	_, err := f.call(t.Context(), "pipeline.put", arg("name", "a"), arg("source", listening+"- pass"))
	pipelinetest.Refused(t, err, "engine", "")
	if bound := f.queue.bound(); len(bound) != 1 {
		t.Errorf("bound are %v", bound)
	}
	_, err = f.call(t.Context(), "pipeline.put", arg("name", "a"), arg("source", "pipeline:\n- event.listen: {key: webhook.b}\n- pass"))
	pipelinetest.Refused(t, err, "engine", "")
	if bound := f.queue.bound(); len(bound) != 1 || f.queue.bindings["b2"] == nil {
		t.Errorf("bound are %v", bound)
	}
	_, err = f.call(t.Context(), "pipeline.delete", arg("name", "a"))
	pipelinetest.Refused(t, err, "engine", "")
	if bound := f.queue.bound(); len(bound) != 0 {
		t.Errorf("bound are %v", bound)
	}
}

// TestGet: one with its source, or a page of all.
func TestGet(t *testing.T) {
	f := newFixture()
	for _, name := range []string{"b", "a", "c1", "c2"} {
		f.put(t, name, "description: about "+name+"\npipeline: [pass]")
	}
	answer, err := f.call(t.Context(), "pipeline.get", arg("name", "a"))
	if got := object(t, answer, err); got["source"] != "description: about a\npipeline: [pass]" || got["folder"] != false || got["description"] != "about a" || got["concurrency"] != 16.0 {
		t.Errorf("the pipeline is %v", got)
	}
	_, err = f.call(t.Context(), "pipeline.get", arg("name", "x"))
	pipelinetest.Refused(t, err, "pipeline-unknown", `"x"`)
	_, err = f.call(t.Context(), "pipeline.delete", arg("name", "x"))
	pipelinetest.Refused(t, err, "pipeline-unknown", `"x"`)

	tests := []struct {
		args command.Args
		want string
		next string
	}{
		{nil, "a b c1 c2", ""},
		{command.Args{arg("limit", 3)}, "a b c1", "c1"},
		{command.Args{arg("limit", 3), arg("after", "c1")}, "c2", ""},
		{command.Args{arg("search", "c")}, "c1 c2", ""},
		{command.Args{arg("search", "x")}, "", ""},
	}
	for _, test := range tests {
		answer, err := f.call(t.Context(), "pipeline.get", test.args...)
		if err != nil {
			t.Fatal(err)
		}
		items, next := answer.(interface{ Page() (any, string) }).Page()
		var views []map[string]any
		if err := json.Unmarshal([]byte(show(t, items, nil)), &views); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, view := range views {
			names = append(names, view["name"].(string))
			if view["source"] != nil {
				t.Error("the list has sources")
			}
		}
		if got := strings.Join(names, " "); got != test.want || next != test.next {
			t.Errorf("%v gives %q and then %q, want %q and %q", test.args, got, next, test.want, test.next)
		}
	}
}

// TestRunCommand: what pipeline.run takes.
func TestRunCommand(t *testing.T) {
	f := newFixture()
	f.put(t, "p", "body: default\nvars: {a: 1, b: 2}\npipeline:\n- event.listen: {key: x}\n- set: {value: '#{[body, vars.a, vars.b]}'}")
	tests := []struct {
		args command.Args
		want string
	}{
		{command.Args{arg("name", "p")}, `["default",1,2]`},
		{command.Args{arg("name", "p"), arg("body", map[string]any{"x": 1}), arg("vars", map[string]any{"a": 5})}, `[{"x":1},5,2]`},
	}
	for _, test := range tests {
		answer, err := f.call(t.Context(), "pipeline.run", test.args...)
		if got := show(t, answer, err); got != test.want {
			t.Errorf("%v gives %s, want %s", test.args, got, test.want)
		}
	}
	_, err := f.call(t.Context(), "pipeline.run", arg("name", "x"))
	pipelinetest.Refused(t, err, "pipeline-unknown", `"x"`)
	_, err = f.call(t.Context(), "pipeline.run")
	pipelinetest.Refused(t, err, "parameter-invalid", "either name")
	_, err = f.call(t.Context(), "pipeline.run", arg("name", "p"), arg("source", "pipeline: [pass]"))
	pipelinetest.Refused(t, err, "parameter-invalid", "not both")
}

// TestLint: all mistakes with their places, and no error.
func TestLint(t *testing.T) {
	f := newFixture()
	f.put(t, "good", listening+"- pass")
	tests := []struct {
		args command.Args
		want string
	}{
		{command.Args{arg("name", "good")}, `{"valid":true,"listens":"svc.event.webhook.a","rightsChecked":true,"problems":[]}`},
		{command.Args{arg("source", "pipeline: [pass]")}, `{"valid":true,"rightsChecked":true,"problems":[]}`},
		{command.Args{arg("source", "pipeline:\n- set: {valeu: 1}\n- passs")},
			`{"valid":false,"rightsChecked":false,"problems":[` +
				`{"line":2,"column":9,"snippet":"- set: {valeu: 1}","step":"set","code":"pipeline-invalid","parameter":"valeu","message":"This command has no parameter \"valeu\"; did you mean value?"},` +
				`{"line":3,"column":3,"snippet":"- passs","step":"passs","code":"pipeline-invalid","message":"There is no command \"passs\"; did you mean pass?"}]}`},
	}
	for _, test := range tests {
		answer, err := f.call(t.Context(), "pipeline.lint", test.args...)
		if got := show(t, answer, err); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	_, err := f.call(t.Context(), "pipeline.lint")
	pipelinetest.Refused(t, err, "parameter-invalid", "Give the source")
}
