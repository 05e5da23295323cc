package rehearse

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/problem"
	"sluice/value"
)

// How long one test may take, and all tests of a program together. Users who may only
// read may test as well.
const (
	maxTestTime  = 5 * time.Second
	maxTestsTime = 30 * time.Second
)

// Test runs the tests of a program. They need no server: stubs replace the commands that
// reach outside, and nothing waits.
func Test(ctx context.Context, p *source.Program, limits run.Limits) []sluice.TestResult {
	limits.RunTime = cmp.Or(min(limits.RunTime, maxTestTime), maxTestTime)
	ctx, cancel := context.WithTimeoutCause(ctx, maxTestsTime, run.TooLongError(maxTestsTime))
	defer cancel()
	results := make([]sluice.TestResult, len(p.Tests))
	for i := range p.Tests {
		t := &trial{Case: &p.Tests[i], program: p}
		message := t.run(ctx, limits)
		results[i] = sluice.TestResult{Name: t.Name, Passed: message == "", Message: message}
	}
	return results
}

// A trial is one run of a test.
type trial struct {
	*source.Case

	program *source.Program
	calls   []source.Call // of stubbed commands
	missing string        // what the author is told about a missing stub
}

// run returns the first difference from what the test wants, "" if there is none.
func (t *trial) run(ctx context.Context, limits run.Limits) string {
	owner := everything(t.User.Name)
	d := sluice.Delivery{TraceID: "test:0000000000", Message: make(map[string]any), Count: 1}
	maps.Copy(d.Message, t.Event)
	d.CorrelationID, _ = t.Event["correlationId"].(string)
	start := run.For(d, 1, &sluice.Run{
		Owner: func(context.Context) (sluice.User, error) { return owner, nil },
	})
	if t.Event == nil {
		start.Body, start.Request = t.Body, map[string]any{"traceId": d.TraceID, "attempt": 1}
		start.Run.Event = nil
	}
	start.Vars = t.Vars
	user := owner
	user.Roles = t.User.Roles
	start.Run.Switch(user)
	out, err := run.Run(ctx, run.Environment{
		Limits: limits,
		Call:   t.call,
		Secret: t.secret,
		Pause:  noPause,
		Log:    slog.New(slog.DiscardHandler),
	}, t.program, start)
	if t.missing != "" {
		return t.missing
	}
	if err == nil && out.Passed != t.Expect.Passed {
		if out.Passed {
			return "The event was passed over, by type or where of " + t.program.Trigger.Command + "."
		}
		return "The event started the pipeline; it was to be passed over."
	}
	return t.compare(out.Body, out.Vars, err)
}

// noPause waits for nothing.
func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// everything returns a user who may do everything: tests are about what a
// pipeline does, not about who may run it.
func everything(name string) sluice.User { return sluice.User{Name: name, Permissions: []string{"*"}} }

// call returns the output of a stub, or of the command itself if that has no effect
// outside.
func (t *trial) call(ctx context.Context, cmd command.Command, args command.Args) (any, error) {
	if s, ok := t.Stubs[cmd.Name]; ok {
		t.calls = append(t.calls, source.Call{Command: cmd.Name, Params: named(args)})
		return outputOf(s)
	}
	switch {
	case cmd.Name == source.SwitchCommand:
		if name, ok := named(args)["username"].(string); ok {
			sluice.RunFrom(ctx).Switch(everything(name))
		}
		return bodyOf(cmd, args), nil
	case cmd.Name == "wait", cmd.Name == "iam.authorize":
		return bodyOf(cmd, args), nil
	case cmd.Pure:
		return t.program.Commands.Call(ctx, cmd, args)
	}
	t.missing = cmd.Name + " reaches outside of the test; say under stub what it answers."
	return nil, sluice.CodeStubMissing.Errorf("%s", t.missing)
}

func outputOf(s source.Stub) (any, error) {
	if s.Error != nil {
		return nil, s.Error
	}
	return s.Output, nil
}

// named returns arguments by their names.
func named(args command.Args) map[string]any {
	fields := make(map[string]any, len(args))
	for _, arg := range args {
		fields[arg.Name] = arg.Value
	}
	return fields
}

// bodyOf returns the body that a command passes on.
func bodyOf(cmd command.Command, args command.Args) any {
	p, _ := cmd.BodyParam()
	return named(args)[p.Name]
}

func (t *trial) secret(_ context.Context, name string) (string, error) {
	if s, ok := t.Secrets[name].(string); ok {
		return s, nil
	}
	return "", sluice.CodeSecretUnknown.Errorf("The test has no secret %s; give it one under secrets.",
		sluice.Quote(name))
}

// compare returns the first difference between the outcome and what the test wants.
func (t *trial) compare(body any, vars map[string]any, err error) string {
	want := t.Expect
	if difference := compareError(want.Error, err); difference != "" {
		return difference
	}
	if want.Body != nil && !value.Equal(*want.Body, body) {
		return fmt.Sprintf("The body is %s, wanted %s.", brief(body), brief(*want.Body))
	}
	for _, name := range slices.Sorted(maps.Keys(want.Vars)) {
		if !value.Equal(want.Vars[name], vars[name]) {
			return fmt.Sprintf("The variable %s is %s, wanted %s.", name, brief(vars[name]), brief(want.Vars[name]))
		}
	}
	return t.compareCalls()
}

func compareError(want map[string]any, err error) string {
	if err == nil {
		if want != nil {
			return "It succeeded, an error was wanted."
		}
		return ""
	}
	e := sluice.AsError(err)
	if want == nil {
		return "It failed: " + e.Message
	}
	code, hasCode := want["code"].(string)
	status, hasStatus := want["statusCode"].(int)
	message, _ := want["message"].(string)
	switch {
	case hasCode && code != e.Code:
		return fmt.Sprintf("The error has the code %s, wanted %s: %s", e.Code, code, e.Message)
	case hasStatus && status != problem.Status(e):
		return fmt.Sprintf("The error has the status code %d, wanted %d: %s", problem.Status(e), status, e.Message)
	case !strings.Contains(e.Message, message):
		return fmt.Sprintf("The error is %s, wanted %s in it.", sluice.Quote(e.Message), sluice.Quote(message))
	}
	return ""
}

func (t *trial) compareCalls() string {
	if t.Expect.Calls == nil {
		return ""
	}
	for i, want := range t.Expect.Calls {
		if i >= len(t.calls) {
			return fmt.Sprintf("Call %d is missing: %s was wanted. Calls: %s.", i+1, want.Command, t.callNames())
		}
		made := t.calls[i]
		if made.Command != want.Command {
			return fmt.Sprintf("Call %d is %s, wanted %s.", i+1, made.Command, want.Command)
		}
		for _, name := range slices.Sorted(maps.Keys(want.Params)) {
			if !within(want.Params[name], made.Params[name]) {
				return fmt.Sprintf("Call %d, %s: %s is %s, wanted %s.", i+1, made.Command, name,
					brief(made.Params[name]), brief(want.Params[name]))
			}
		}
	}
	if len(t.calls) > len(t.Expect.Calls) {
		return fmt.Sprintf("There are %d calls, wanted %d: %s.", len(t.calls), len(t.Expect.Calls), t.callNames())
	}
	return ""
}

func (t *trial) callNames() string {
	names := make([]string, 0, len(t.calls))
	for _, made := range t.calls {
		names = append(names, made.Command)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// within reports whether a value is the wanted one. Its objects may have more fields.
func within(want, have any) bool {
	fields, ok := want.(map[string]any)
	if !ok {
		return value.Equal(want, have)
	}
	having, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for name, field := range fields {
		other, has := having[name]
		if !has || !within(field, other) {
			return false
		}
	}
	return true
}

// brief returns a value as JSON for a message.
func brief(v any) string {
	const longest = 300
	text, err := value.AppendJSON(nil, v, longest)
	if err != nil {
		return strings.ToValidUTF8(string(text[:min(len(text), longest)]), "") + "…"
	}
	return string(text)
}
