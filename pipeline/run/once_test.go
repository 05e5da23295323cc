package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
)

// outputs keeps what steps have done once.
type outputs struct {
	kept map[string]string
	err  error
}

func (o *outputs) Output(_ context.Context, step string) (json.RawMessage, error) {
	if text, ok := o.kept[step]; ok {
		return json.RawMessage(text), o.err
	}
	return nil, o.err
}

func (o *outputs) Keep(_ context.Context, step string, output json.RawMessage) error {
	o.kept[step] = string(output)
	return o.err
}

func (o *outputs) Offer(context.Context, string, sluice.WorkItem) (time.Time, error) {
	return time.Time{}, o.err
}

func (o *outputs) Answer(context.Context, string) (*sluice.WorkAnswer, error) { return nil, o.err }

// TestOnce: what a run does outside when it begins anew. Each source is another attempt on the same
// event.
func TestOnce(t *testing.T) {
	const send, sendB = "- http.request: {url: a, body: '#{body}', once: true}\n", "- http.request: {url: b, once: true}\n"
	for name, test := range map[string]struct {
		attempts []string
		calls    string // that were made outside
		want     string // the last body, or code
	}{
		"it is not done again":            {[]string{send + "- fail: {message: x}", send + "- set: {value: '#{body.statusCode}'}"}, "a", "200"},
		"without once it is":              {[]string{"- http.request: {url: a}\n- fail: {message: x}", "- http.request: {url: a}\n- pass: {input: 1}"}, "a a", "1"},
		"once: false is without":          {[]string{"- http.request: {url: a, once: false}", "- http.request: {url: a, once: false}\n- pass: {input: 1}"}, "a a", "1"},
		"a failed one is done again":      {[]string{"- flaky: {once: true}", "- flaky: {once: true}"}, "flaky flaky", `"steady"`},
		"each step is its own":            {[]string{send + sendB, send + sendB + "- pass: {input: 1}"}, "a b", "1"},
		"each turn is its own":            {[]string{"- foreach: {in: [1, 2], do: [http.request: {url: 'u#{vars.item}', once: true}, fail: {if: 'vars.item == 2', message: x}]}", "- foreach: {in: [1, 2], do: [http.request: {url: 'u#{vars.item}', once: true}, fail: {if: 'vars.item == 2', message: x}]}\n- set: {value: '#{body.url}'}"}, "u1 u2", "failed"},
		"another text is another step":    {[]string{send, "- http.request: {url: c, once: true}\n- pass: {input: 1}"}, "a c", "1"},
		"another place is another step":   {[]string{send, "- pass\n" + send + "- pass: {input: 1}"}, "a a", "1"},
		"an id is enough":                 {[]string{"- http.request: {url: a, id: pay, once: true}", "- pass\n- http.request: {url: c, id: pay, once: true}\n- set: {value: '#{body.url}'}"}, "a", `"a"`},
		"the output goes where it should": {[]string{"- http.request: {url: a, once: true, output: vars.x}", "- set: {value: 7}\n- http.request: {url: a, once: true, output: vars.x}\n- pass"}, "a a", "7"},
		"arguments are not computed":      {[]string{"- http.request: {url: a, id: i, once: true}", "- http.request: {url: '#{1 / 0 > 1 ? body.none.none : \"a\"}', id: i, once: true}\n- pass: {input: 1}"}, "a", "1"},
		"1 MiB is enough":                 {[]string{"- flaky: {once: true, size: 1048570}", "- flaky: {once: true, size: 1048570}\n- set: {value: '#{len(body)}'}"}, "flaky", "1048570"},
		"more is refused":                 {[]string{"- flaky: {once: true, size: 1048577}"}, "flaky", "result-too-large"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(run.Limits{})
			var made []string
			f.set = command.NewSet(func(context.Context, sluice.AuditEntry) {}, f.Commands(), []command.Command{flaky(&made)})
			kept := &outputs{kept: map[string]string{}}
			var got string
			for _, steps := range test.attempts {
				out, err := f.attempt(t, kept, "pipeline:\n"+steps, func(call string) { made = append(made, call) })
				text, _ := json.Marshal(out.Body)
				if got = string(text); err != nil {
					got = sluice.AsError(err).Code
				}
			}
			if calls := strings.Join(made, " "); calls != test.calls || got != test.want {
				t.Errorf("it made the calls %s and came to %s, want %s and %s", calls, got, test.calls, test.want)
			}
		})
	}
}

// flaky is a command that reaches outside, fails at first, and gives a text of a size.
func flaky(made *[]string) command.Command {
	type params struct {
		Size int `json:"size" doc:"How long."`
	}
	return command.New("flaky", "Fail at first.", func(_ context.Context, p params) (any, error) {
		*made = append(*made, "flaky")
		if p.Size == 0 && len(*made) == 1 {
			return nil, errors.New("not yet")
		}
		return strings.Repeat("x", p.Size) + strings.Repeat("steady", max(0, 1-p.Size)), nil
	}, command.Traffic)
}

// attempt makes an attempt on one event.
func (f *fixture) attempt(t *testing.T, kept sluice.Kept, text string, call func(string)) (run.Outcome, error) {
	t.Helper()
	program, err := source.Parse(text, f.set, pipelinetest.Language())
	if err != nil {
		t.Fatal(err)
	}
	admin := sluice.User{Name: "admin", Permissions: []string{"*"}}
	this := &sluice.Run{Pipeline: "p", Owner: func(context.Context) (sluice.User, error) { return admin, nil }}
	this.Switch(admin)
	return run.Run(t.Context(), run.Environment{
		Limits: f.limits, Log: slog.New(slog.DiscardHandler),
		Call: func(ctx context.Context, c command.Command, args command.Args) (any, error) {
			if c.Name == "http.request" {
				call(fmt.Sprint(args[0].Value))
			}
			return f.set.Call(ctx, c, args)
		},
	}, program, run.For(sluice.Delivery{Message: map[string]any{}, CorrelationID: "c", Kept: kept}, 1, this))
}

// TestKeptOutputsAreReported: a trace tells which outputs are those of an earlier attempt, and an
// engine that is away fails the step before it is done again.
func TestKeptOutputsAreReported(t *testing.T) {
	f, kept, calls := newFixture(run.Limits{}), &outputs{kept: map[string]string{}}, 0
	for attempt := range 3 {
		if attempt == 2 {
			kept.err = sluice.Passing(sluice.CodeEngineUnavailable, "It is away.")
		}
		out, err := f.attempt(t, kept, "pipeline: [http.request: {url: a, once: true}, set: {value: 1}]", func(string) { calls++ })
		if steps := out.Report.Steps; calls != 1 || steps[0].Kept != (attempt == 1 || attempt == 2) || sluice.EngineAway(err) != (attempt == 2) || attempt < 2 && steps[1].Kept {
			t.Errorf("attempt %d made %d calls, and is reported as %+v (%v)", attempt, calls, steps, err)
		}
	}
}
