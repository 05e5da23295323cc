package pipeline

import (
	"context"
	"log/slog"
	"time"

	"sluice"
	"sluice/command"
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

// Test runs the tests that the program carries. They need no server: commands
// that reach outside are answered by stubs, and nothing waits.
func (p *Program) Test(ctx context.Context, limits Limits) []TestResult {
	limits.setDefaults()
	limits.RunTime = min(limits.RunTime, maxTestTime)
	ctx, cancel := context.WithTimeoutCause(ctx, maxTestsTime, tooLongError(maxTestsTime))
	defer cancel()
	results := make([]TestResult, len(p.tests))
	for i := range p.tests {
		t := &trial{testCase: &p.tests[i], program: p}
		message := t.run(ctx, limits)
		results[i] = TestResult{t.name, message == "", message}
	}
	return results
}

// A trial is one run of a test.
type trial struct {
	*testCase

	program *Program
	calls   []madeCall
	missing string // which stub is missing, so that the test has no result
}

// A madeCall is a call of a stubbed command.
type madeCall struct {
	command string
	args    map[string]any
}

// run returns what differs from what the test wants, "" if nothing does.
func (t *trial) run(ctx context.Context, limits Limits) string {
	run := &sluice.Run{TraceID: "test:0000000000", Event: t.event}
	run.Owner = func(context.Context) (sluice.User, error) { return everything(t.user.Name), nil }
	user := everything(t.user.Name)
	user.Roles = t.user.Roles
	run.Switch(user)
	b := beginning{run: run, body: t.body, vars: t.vars, request: map[string]any{"traceId": run.TraceID, "attempt": 1}}
	if t.event != nil {
		b.body = t.event
		b.request = requestOf(sluice.Delivery{Message: t.event, TraceID: run.TraceID, Count: 1}, 1)
	}
	x := newExecution(environment{
		limits: limits,
		call:   t.call,
		secret: t.secret,
		pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		log:    slog.New(slog.DiscardHandler),
	}, t.program, b, nil)
	body, err := x.execute(ctx, b)
	if t.missing != "" {
		return t.missing
	}
	return t.compare(body, x.scope.Vars, err)
}

// everything returns a user who may do everything: tests are about what a
// pipeline does, not about who may run it.
func everything(name string) sluice.User {
	return sluice.User{Name: name, Permissions: []string{"*"}}
}

// call answers a call by a stub, or by the command itself if that changes
// nothing outside.
func (t *trial) call(ctx context.Context, cmd command.Command, args command.Args) (any, error) {
	if s, ok := t.stubs[cmd.Name]; ok {
		t.calls = append(t.calls, madeCall{cmd.Name, named(args)})
		return s.answer()
	}
	switch {
	case cmd.Name == switchCommand:
		if name, ok := named(args)["username"].(string); ok {
			sluice.RunFrom(ctx).Switch(everything(name))
		}
		return bodyOf(cmd, args), nil
	case cmd.Name == "wait", cmd.Name == "iam.authorize":
		return bodyOf(cmd, args), nil
	case cmd.Pure:
		return t.program.commands.Call(ctx, cmd, args)
	}
	t.missing = cmd.Name + " reaches outside of the test; say under stub what it answers."
	return nil, sluice.Errorf(sluice.CodeStubMissing, "%s", t.missing)
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

func (t *trial) secret(_ context.Context, _ *sluice.Run, name string) (string, error) {
	if s, ok := t.secrets[name].(string); ok {
		return s, nil
	}
	return "", sluice.Errorf(sluice.CodeSecretUnknown, "The test has no secret %s; give it one under secrets.", quote(name))
}
