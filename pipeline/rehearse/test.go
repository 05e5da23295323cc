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

// How long one test may take, and all tests of a program together. Users who may only
// read may test as well.
const (
	maxTestTime  = 5 * time.Second
	maxTestsTime = 30 * time.Second
)

// Test runs the tests of a program. They need no server: stubs replace the commands that
// reach outside, and nothing waits.
func Test(ctx context.Context, p *source.Program, limits run.Limits) []sluice.TestResult {
	limits.SetDefaults()
	limits.RunTime = min(limits.RunTime, maxTestTime)
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
	calls   []madeCall
	missing string // what the author is told about a missing stub
}

// A madeCall is a call of a stubbed command.
type madeCall struct {
	command string
	args    map[string]any
}

// run returns the first difference from what the test wants, "" if there is none.
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

// call returns the output of a stub, or of the command itself if that has no effect
// outside.
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
	return "", sluice.Errorf(sluice.CodeSecretUnknown, "The test has no secret %s; give it one under secrets.", sluice.Quote(name))
}
