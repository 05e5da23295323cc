package pipeline

import (
	"context"
	"log/slog"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/problem"
)

// An execution is one run of a program: its body, variables and headers, and
// what it has used up. A single goroutine works on it.
type execution struct {
	environment
	holdings

	program *Program
	run     *sluice.Run
	scope   expression.Scope
	user    sluice.User // as scope.User shows it
	secrets *secrets
	report  *sluice.RunReport // nil: there is none
	started time.Time
	noted   int // bytes of exchanges in the report

	steps int
}

// An environment is what a run needs from outside. Tests of pipelines have
// another one than runs.
type environment struct {
	limits Limits
	call   func(ctx context.Context, c command.Command, args command.Args) (any, error)
	secret func(ctx context.Context, run *sluice.Run, name string) (string, error)
	pause  func(ctx context.Context, d time.Duration) error
	log    *slog.Logger
}

// A beginning is what a run starts with.
type beginning struct {
	run     *sluice.Run
	body    any            // nil: that of the source
	vars    map[string]any // they override those of the source
	request map[string]any
	counted bool // whoever gives the body has taken memory for it

	// again, if set, returns when to try once more after an error; zero: not.
	again func(error) time.Time
}

// newExecution prepares a run. The report, if there is one, is filled in.
func newExecution(e environment, p *Program, b beginning, report *sluice.RunReport) *execution {
	x := &execution{environment: e, program: p, run: b.run, report: report}
	x.held = make(map[target]weight)
	if e.limits.Shared != nil {
		x.shared = e.limits.Shared.Hold()
	}
	return x
}

// execute runs the program and returns its final body. There are no secrets in
// it, nor in the report or the error.
func (x *execution) execute(ctx context.Context, b beginning) (any, error) {
	x.started = time.Now()
	x.secrets, ctx = secretsOf(ctx)
	limit := min(x.program.timeout, x.limits.RunTime)
	ctx, cancel := context.WithTimeoutCause(sluice.WithRun(ctx, b.run), limit, tooLongError(limit))
	defer cancel()
	defer x.shared.Release()
	x.scope.Request = b.request
	x.scope.Memory = func(bytes int) error { return x.spend(ctx, bytes) }
	x.scope.Secret = func(name string) (string, error) { return x.reveal(ctx, name) }
	b.run.Secret = x.reveal
	err := x.begin(ctx, b)
	if err == nil {
		err = x.list(ctx, x.program.steps)
	}
	return x.end(err)
}

// end returns what leaves the run.
func (x *execution) end(err error) (any, error) {
	if x.report != nil {
		x.report.Started, x.report.Duration, x.report.Status = x.started.UTC(), sluice.Milliseconds(time.Since(x.started)), sluice.StatusOK
	}
	if err == nil {
		return x.secrets.hide(x.scope.Body), nil
	}
	failure := x.secrets.hideError(sluice.AsError(err)).InCall(x.run.TraceID)
	if x.report != nil {
		x.report.Status, x.report.Error = sluice.StatusError, problem.Of(failure)
	}
	return nil, failure
}

// list does steps one after the other.
func (x *execution) list(ctx context.Context, steps []*step) error {
	for _, s := range steps {
		if err := x.step(ctx, s); err != nil || x.run.Exited() {
			return err
		}
	}
	return nil
}

// step does a step, if its condition holds, as often as its policy says.
func (x *execution) step(ctx context.Context, s *step) error {
	x.made()
	if s.when != nil {
		condition, err := s.when.Eval(&x.scope)
		if err != nil {
			return x.placed(ctx, s, err)
		}
		if !holds(condition) {
			return nil
		}
	}
	before, weight := x.scope.Body, x.held[target{}]
	for tries := 0; ; tries++ {
		err := x.count(ctx)
		if err != nil {
			return x.placed(ctx, s, err)
		}
		if err = s.do(ctx, x, s); err == nil || x.over(ctx) {
			return err
		}
		x.assign(target{}, before, weight)
		x.made()
		switch {
		case tries < s.onError.retries:
			if x.pause(ctx, s.onError.wait) != nil {
				return x.placed(ctx, s, ctx.Err())
			}
		case s.onError.ignore:
			x.ignore(err)
			return nil
		default:
			return err
		}
	}
}
