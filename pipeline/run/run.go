package run

import (
	"context"
	"log/slog"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline/source"
	"sluice/problem"
)

// An Environment is what a run needs from outside. Rehearsals have their own.
type Environment struct {
	Limits  Limits
	Call    func(ctx context.Context, c command.Command, args command.Args) (any, error)
	Secret  func(ctx context.Context, name string) (string, error) // of a run whose owner may use secrets
	Pause   func(ctx context.Context, d time.Duration) error
	Reports bool // outcomes have a report
	Log     *slog.Logger
}

// A Start is what a run starts with.
type Start struct {
	Run     *sluice.Run
	Body    any            // nil: that of the source
	Vars    map[string]any // they override those of the source
	Request map[string]any
	Counted bool // the caller has taken memory for the body

	// For the report:
	EventKey          string
	Attempt, Delivery int
}

// An Outcome is what a run ended with.
type Outcome struct {
	Body   any            // without secrets; nil after an error
	Vars   map[string]any // as the last step left them, with secrets, for rehearsals
	Report *sluice.RunReport

	// Secrets are the names of those that the run has used, and Hosts where it has sent
	// requests to.
	Secrets, Hosts []string
}

// Run runs a program. Neither the body and the report of its outcome nor the error has
// secrets. After an error the outcome has a report as well.
func Run(ctx context.Context, e Environment, p *source.Program, s Start) (Outcome, error) {
	x := &execution{environment: e, program: p, run: s.Run, started: time.Now()}
	x.held = make(map[source.Target]weight)
	if e.Limits.Shared != nil {
		x.shared = e.Limits.Shared.Hold()
	}
	defer x.shared.Release()
	if e.Reports {
		x.report = newReport(p, s)
	}
	x.secrets, ctx = secretsOf(ctx)
	limit := min(p.Timeout, e.Limits.RunTime)
	ctx, cancel := context.WithTimeoutCause(sluice.WithRun(ctx, s.Run), limit, TooLongError(limit))
	defer cancel()
	x.scope.Request = s.Request
	x.scope.Memory = func(bytes int) error { return x.spend(ctx, bytes) }
	x.scope.Secret = func(name string) (string, error) { return x.reveal(ctx, name) }
	s.Run.Secret = x.reveal
	err := x.begin(ctx, s)
	if err == nil {
		err = x.list(ctx, p.Steps)
	}
	return x.end(err)
}

// An execution is the state of one run. A single goroutine works on it.
type execution struct {
	environment Environment
	usage

	program *source.Program
	run     *sluice.Run
	scope   expression.Scope
	user    sluice.User // as scope.User shows it
	secrets *Secrets
	report  *sluice.RunReport // nil: there is none
	started time.Time
	noted   int // bytes of exchanges in the report

	used, hosts []string // see Outcome

	steps int
}

// end returns the outcome of the run.
func (x *execution) end(err error) (Outcome, error) {
	out := Outcome{Vars: x.scope.Vars, Report: x.report, Secrets: x.used, Hosts: x.hosts}
	if x.report != nil {
		x.report.Started, x.report.Duration, x.report.Status = x.started.UTC(), sluice.Milliseconds(time.Since(x.started)), sluice.StatusOK
	}
	if err == nil {
		out.Body = x.secrets.Hide(x.scope.Body)
		return out, nil
	}
	failure := x.secrets.hideError(sluice.AsError(err)).InCall(x.run.TraceID)
	if x.report != nil {
		x.report.Status, x.report.Error = sluice.StatusError, problem.Of(failure)
	}
	return out, failure
}
