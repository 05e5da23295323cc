package pipeline

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
)

// A Runner runs pipelines: for events, for callers, and for other pipelines.
type Runner struct {
	Commands func() command.Set // all there are; asked at each use
	Language *expression.Language
	Store    sluice.Pipelines
	Queue    sluice.Queue
	Events   sluice.Events // takes replays
	Letters  sluice.DeadLetters
	User     func(ctx context.Context, username string) (sluice.User, error)    // as of now
	Owner    func(ctx context.Context, p *sluice.Pipeline) (sluice.User, error) // who stored it, as of now
	Secret   func(ctx context.Context, name string) (string, error)
	Limits   Limits
	MaxRuns  int                    // at the same time, all pipelines together; 0 means sluice.DefaultMaxRuns
	Grace    time.Duration          // how long runs may go on when the service stops
	Observe  func(sluice.RunReport) // is told how runs went; may be nil
	Spans    sluice.Spans           // nil: nobody wants them
	Log      *slog.Logger

	slots    chan struct{}
	programs *programs
}

// NewRunner gives a runner with what is zero set to its default.
func NewRunner(r Runner) *Runner {
	r.Limits.setDefaults()
	r.slots = make(chan struct{}, cmp.Or(r.MaxRuns, sluice.DefaultMaxRuns))
	r.programs = &programs{byName: make(map[string]compiled)}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	return &r
}

// Parse makes a program of a source, with the commands there are.
func (r *Runner) Parse(source string) (*Program, error) {
	return Parse(source, r.Commands(), r.Language)
}

// owner gives the user whose permissions a stored pipeline may borrow, as of
// now.
func (r *Runner) owner(p *sluice.Pipeline) func(context.Context) (sluice.User, error) {
	if p.Folder {
		return func(context.Context) (sluice.User, error) {
			return sluice.User{Name: sluice.AdminName, Permissions: []string{"*"}}, nil
		}
	}
	return func(ctx context.Context) (sluice.User, error) { return r.Owner(ctx, p) }
}

// environment gives what runs need of the world.
func (r *Runner) environment() environment {
	call := r.Commands().Call
	if r.Spans != nil {
		call = r.callInSpan
	}
	return environment{limits: r.Limits, call: call, secret: r.reveal, pause: pause, log: r.Log}
}

// reveal gives a secret to a run whose owner may use it.
func (r *Runner) reveal(ctx context.Context, run *sluice.Run, name string) (string, error) {
	if err := mayUseSecrets(ctx, run); err != nil {
		return "", err
	}
	return r.Secret(ctx, name)
}

// callInSpan calls a command as a piece of work of its own.
func (r *Runner) callInSpan(ctx context.Context, c command.Command, args command.Args) (any, error) {
	ctx, end := r.Spans.Start(ctx, c.Name, "")
	out, err := r.Commands().Call(ctx, c, args)
	end(err)
	return out, err
}

// attempt runs a program once, as a piece of work if somebody wants to know of
// those.
func (r *Runner) attempt(ctx context.Context, p *Program, b beginning, number, delivery int) (any, error) {
	if r.Spans == nil {
		return r.reported(ctx, p, b, number, delivery)
	}
	traceparent, _ := b.run.Event["traceparent"].(string)
	ctx, end := r.Spans.Start(ctx, "pipeline "+b.run.Pipeline, traceparent, "svc.trace_id", b.run.TraceID)
	out, err := r.reported(ctx, p, b, number, delivery)
	end(err)
	return out, err
}

// reported runs a program once and reports how that went.
func (r *Runner) reported(ctx context.Context, p *Program, b beginning, number, delivery int) (any, error) {
	if r.Observe == nil {
		return newExecution(r.environment(), p, b, nil).execute(ctx, b)
	}
	report := sluice.RunReport{
		Pipeline:      b.run.Pipeline,
		TraceID:       b.run.TraceID,
		CorrelationID: b.run.CorrelationID,
		Attempt:       number,
		Delivery:      delivery,
		Steps:         make([]sluice.StepReport, 0, min(len(p.steps), maxReported)),
	}
	key, _ := b.run.Event["eventKey"].(string)
	report.EventKey = strings.Clone(key) // the report is kept longer than the event
	out, err := newExecution(r.environment(), p, b, &report).execute(ctx, b)
	r.Observe(report)
	return out, err
}

// pause waits, or returns why that makes no sense any more.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
