package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
	"sluice/value"
)

// TestOutcomeValue: the value of an outcome is the final body as JSON, exactly.
func TestOutcomeValue(t *testing.T) {
	f := newFixture()
	f.put(t, "p", listening+"- set: {value: '#{body.payload}'}")
	defer f.serving(t)()
	for _, want := range []string{
		`null`, `true`, `false`, `0`, `-1`, `1.5`, `1e+100`, `12345678901234567890.12345678901234567890`, `""`, `"a\"\\\n<&>ü😀"`,
		`[]`, `{}`, `[1,[2,{"a":[null]}]]`, `{"a":1,"b":{"c":[true,false]}}`,
	} {
		payload, err := value.Decode([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		d := delivery()
		d.Message["payload"] = payload
		f.send(t, "p", d)
		if got := <-f.queue.outcomes; string(got.Value) != want {
			t.Errorf("the value is %s, want %s", got.Value, want)
		}
	}
}

// TestStoredMistake: a stored pipeline that is not valid any more fails its
// events, once each.
func TestStoredMistake(t *testing.T) {
	f := newFixture()
	f.put(t, "p", "retry: {times: 5}\n"+listening+"- pass")
	if _, err := f.store.Change(t.Context(), "p", func(before *sluice.Pipeline, _ map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
		changed := *before
		changed.Source = strings.Replace(before.Source, "- pass", "- gone", 1)
		return &changed, nil
	}); err != nil {
		t.Fatal(err)
	}
	defer f.serving(t)()
	f.send(t, "p", delivery())
	if got := <-f.queue.outcomes; got.StatusCode != 400 || got.Attempts != 1 || got.Error.Line != 4 || got.Error.TraceID != "abcdef:0123456789" {
		t.Errorf("the outcome is %+v, %+v", got, got.Error)
	}
}

// TestSlots: events wait for a free slot, none is held between attempts, and a
// stop ends the waiting.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(func(r *pipeline.RunnerOptions) { r.MaxRuns = 1 })
		f.Failures = 1
		f.put(t, "retries", "retry: {times: 1, backoff: 1m}\n"+listening+"- unsteady")
		f.put(t, "waits", listening+"- wait: {duration: 10s}")
		stop := f.serving(t)
		f.send(t, "retries", delivery())
		synctest.Wait()
		for range 3 {
			f.send(t, "waits", delivery())
		}
		started := time.Now()
		for range 3 {
			if got := <-f.queue.outcomes; got.Pipeline != "waits" {
				t.Errorf("the outcome is %+v", got)
			}
		}
		if took := time.Since(started); took != 30*time.Second {
			t.Errorf("three runs took %s: there is more than one slot, or less", took)
		}
		if got := <-f.queue.outcomes; got.Pipeline != "retries" || got.Attempts != 2 {
			t.Errorf("the outcome is %+v", got)
		}
		f.send(t, "waits", delivery())
		f.send(t, "waits", delivery())
		synctest.Wait()
		stop()
		if len(f.queue.errors) != 2 {
			t.Errorf("%d runs were cut off, want 2", len(f.queue.errors))
		}
	})
}

// TestGivenVariables: there is a bound, and they are checked as all values are.
func TestGivenVariables(t *testing.T) {
	f := newFixture()
	many := map[string]any{}
	for i := range 1001 {
		many[strings.Repeat("x", i+1)] = i
	}
	_, err := f.call(t.Context(), "pipeline.run", arg("source", "pipeline: [pass]"), arg("vars", many))
	pipelinetest.Refused(t, err, "too-many-variables", "at most 1000")
	_, err = f.call(t.Context(), "pipeline.run", arg("source", "pipeline: [pass]"), arg("vars", map[string]any{"a": make([]any, value.MaxItems+1)}))
	pipelinetest.Refused(t, err, "too-many-items", "vars.a: ")
	_, err = f.call(t.Context(), "pipeline.run", arg("source", "pipeline: [pass]"), arg("body", make([]any, value.MaxItems+1)))
	pipelinetest.Refused(t, err, "too-many-items", "body: ")
	out, err := f.call(t.Context(), "pipeline.run", arg("source", "pipeline: [pass]"), arg("body", time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
	if err != nil || out != "2030-01-01T00:00:00Z" {
		t.Errorf("the body is %v, %v", out, err)
	}
}

// TestLongErrors: an error does not carry a payload around.
func TestLongErrors(t *testing.T) {
	f := newFixture()
	_, err := f.call(t.Context(), "pipeline.run", arg("source", "pipeline: [fail: {message: '#{body}'}]"), arg("body", strings.Repeat("ü", 100_000)))
	if e := pipelinetest.Refused(t, err, "failed", "…"); len(e.Message) > 9<<10 {
		t.Errorf("the message has %d bytes", len(e.Message))
	}
}

// TestConflict: of two changes at the same moment none is lost silently.
func TestConflict(t *testing.T) {
	const elsewhere = "pipeline:\n- event.listen: {key: webhook.b}\n"
	f := newFixture()
	f.put(t, "p", listening+"- pass")
	f.queue.meanwhile = func() {
		f.queue.meanwhile = nil
		f.put(t, "p", "pipeline: [pass]")
	}
	if _, err := f.call(t.Context(), "pipeline.put", arg("name", "p"), arg("source", elsewhere+"- pass")); err != nil {
		t.Fatal(err)
	}
	if bound := f.queue.bound(); len(bound) != 1 {
		t.Errorf("bound are %v", bound)
	}
	f.store.meanwhile = func() {
		f.store.meanwhile = nil
		if _, err := f.call(t.Context(), "pipeline.delete", arg("name", "p")); err != nil {
			t.Fatal(err)
		}
	}
	f.put(t, "p", elsewhere+"- pass\n- pass")
	if bound := f.queue.bound(); !slices.Equal(bound, []string{"svc.event.webhook.b"}) {
		t.Errorf("bound are %v", bound)
	}
	if versions := f.versions(t); len(versions) != 1 {
		t.Errorf("a pipeline that was deleted and stored again has the versions %v", versions)
	}
}

// TestDeclarations: what the commands of this room say about themselves.
func TestDeclarations(t *testing.T) {
	f := newFixture()
	for name, want := range map[string]struct{ readOnly, traffic bool }{
		"pipeline.put": {}, "pipeline.get": {readOnly: true}, "pipeline.delete": {}, "pipeline.run": {traffic: true},
		"pipeline.lint": {readOnly: true}, "pipeline.test": {readOnly: true},
		"deadletter.get": {readOnly: true}, "deadletter.replay": {}, "deadletter.delete": {},
	} {
		c, ok := f.set.Find(name)
		if !ok || c.ReadOnly != want.readOnly || c.Traffic != want.traffic {
			t.Errorf("%s is declared as %v, %v", name, c.ReadOnly, c.Traffic)
		}
	}
	if p, ok := find(t, f.set, "pipeline.put").BodyParam(); !ok || p.Body != command.BodyOnly {
		t.Error("the source is not the body of pipeline.put")
	}
}

func find(t *testing.T, set command.Set, name string) command.Command {
	t.Helper()
	c, ok := set.Find(name)
	if !ok {
		t.Fatalf("there is no command %s", name)
	}
	return c
}
