package rehearse

import (
	"context"
	"log/slog"
	"time"

	"sluice"
	"sluice/command"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
)

// A TestResult says how one test of a pipeline went.
type TestResult struct {
	Name    string `json:"name"`
	Passed  bool   `json:"passed"`
	Message string `json:"message,omitempty"` // what differs
}

// How long one test may take, and all of a program together: users who may only
// read may also test.
const (
	maxTestTime  = 5 * time.Second
	maxTestsTime = 30 * time.Second
)

// Test runs the tests that a program carries. They need no server: commands
// that reach outside are answered by stubs, and nothing waits.
func Test(ctx context.Context, p *source.Program, limits run.Limits) []TestResult {
	limits.SetDefaults()
	limits.RunTime = min(limits.RunTime, maxTestTime)
	ctx, cancel := context.WithTimeoutCause(ctx, maxTestsTime, run.TooLongError(maxTestsTime))
	defer cancel()
	results := make([]TestResult, len(p.Tests))
	for i := range p.Tests {
		t := &trial{Case: &p.Tests[i], program: p}
		message := t.run(ctx, limits)
		results[i] = TestResult{t.Name, message == "", message}
	}
	return results
}

// A trial is one run of a test.
type trial struct {
	*source.Case

	program *source.Program
	calls   []madeCall
	missing string // which stub is missing, so that the test has no result
}

// A madeCall is a call of a stubbed command.
type madeCall struct {
	command string
	args    map[string]any
}

// run returns what differs from what the test wants, "" if nothing does.
func (t *trial) run(ctx context.Context, limits run.Limits) string {
	started := &sluice.Run{TraceID: "test:0000000000", Event: t.Event}
	started.Owner = func(context.Context) (sluice.User, error) { return everything(t.User.Name), nil }
	user := everything(t.User.Name)
	user.Roles = t.User.Roles
	started.Switch(user)
	start := run.Start{Run: started, Body: t.Body, Vars: t.Vars, Request: map[string]any{"traceId": started.TraceID, "attempt": 1}}
	if t.Event != nil {
		start.Body = t.Event
		start.Request = run.RequestOf(sluice.Delivery{Message: t.Event, TraceID: started.TraceID, Count: 1}, 1)
	}
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
	return t.compare(out.Body, out.Vars, err)
}

// noPause waits for nothing.
func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// everything returns a user who may do everything: tests are about what a
// pipeline does, not about who may run it.
func everything(name string) sluice.User {
	return sluice.User{Name: name, Permissions: []string{"*"}}
}

// call answers a call by a stub, or by the command itself if that changes
// nothing outside.
func (t *trial) call(ctx context.Context, cmd command.Command, args command.Args) (any, error) {
	if s, ok := t.Stubs[cmd.Name]; ok {
		t.calls = append(t.calls, madeCall{cmd.Name, named(args)})
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
	return nil, sluice.Errorf(sluice.CodeStubMissing, "%s", t.missing)
}

// outputOf returns what a stub stands for.
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

// bodyOf returns the body, as commands without an output do.
func bodyOf(cmd command.Command, args command.Args) any {
	p, _ := cmd.BodyParam()
	return named(args)[p.Name]
}

func (t *trial) secret(_ context.Context, name string) (string, error) {
	if s, ok := t.Secrets[name].(string); ok {
		return s, nil
	}
	return "", sluice.Errorf(sluice.CodeSecretUnknown, "The test has no secret %s; give it one under secrets.", source.Quote(name))
}
