package pipeline

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
)

// Names that pipelines run under. The rooms that keep users know them, too.
const (
	anonymousName = "anonymousUser" // who runs what an event has started
	adminName     = "admin"         // the owner of pipelines from the operator's folder
)

// A Runner runs pipelines: for events, for callers, and for other pipelines.
type Runner struct {
	Commands func() command.Set // all there are; asked at each use
	Language *expression.Language
	Store    sluice.Pipelines
	Queue    sluice.Queue
	Events   sluice.Events // takes replays
	Letters  sluice.DeadLetters
	User     func(ctx context.Context, username string) (sluice.User, error) // as of now
	Secret   func(ctx context.Context, name string) (string, error)
	Limits   Limits
	MaxRuns  int                    // at the same time, all pipelines together; 0 means 1,024
	Observe  func(sluice.RunReport) // is told how runs went; may be nil
	Log      *slog.Logger

	slots    chan struct{}
	programs *programs
}

// NewRunner gives a runner with what is zero set to its default.
func NewRunner(r Runner) *Runner {
	const defaultRuns = 1024
	r.Limits.setDefaults()
	r.slots = make(chan struct{}, cmp.Or(r.MaxRuns, defaultRuns))
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
			return sluice.User{Name: adminName, Permissions: []string{"*"}}, nil
		}
	}
	return func(ctx context.Context) (sluice.User, error) { return r.User(ctx, p.Owner) }
}

// environment gives what runs need of the world.
func (r *Runner) environment() environment {
	return environment{limits: r.Limits, call: r.Commands().Call, secret: r.reveal, pause: pause, log: r.Log}
}

// reveal gives a secret to a run whose owner may use it.
func (r *Runner) reveal(ctx context.Context, run *sluice.Run, name string) (string, error) {
	if err := mayUseSecrets(ctx, run); err != nil {
		return "", err
	}
	return r.Secret(ctx, name)
}

// attempt runs a program once and reports how that went.
func (r *Runner) attempt(ctx context.Context, p *Program, b beginning, number, delivery int) (any, error) {
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
	report.EventKey, _ = b.run.Event["eventKey"].(string)
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
