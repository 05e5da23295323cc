// Package pipeline stores pipelines and their versions, checks what their owners may do, runs
// them for events, for callers and for each other, retries failed runs, and keeps dead
// letters. The Runner joins all of it, and Commands are what users see.
//
// A pipeline that starts with event.listen or message.receive runs for each matching event.
// That step never runs: the event is the body already. If a caller runs such a pipeline, the
// body is the caller's.
//
// # Neighbours
//
// Package pipeline/source turns a source into a checked program, pipeline/run runs it, and
// pipeline/rehearse runs it as a test or a try. The steps are commands of all packages.
// Package jetstream stores pipelines, delivers events and keeps outcomes and dead letters.
package pipeline

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/limit"
	"sluice/pipeline/rehearse"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
	"sluice/value"
	"sluice/wait"
)

// RunnerOptions are the parts of a runner.
type RunnerOptions struct {
	Commands  func() command.Set // returns all commands; called at each use
	Language  *expression.Language
	Store     sluice.Pipelines
	History   sluice.Records[sluice.PipelineHistory] // former sources
	Tickings  sluice.Records[sluice.Ticking]         // of schedules
	Queue     sluice.Queue
	Events    sluice.Events // takes replays, and the events of schedules
	Letters   sluice.DeadLetters
	Journal   sluice.Journal // past events, to try drafts on
	Results   sluice.Results
	Namespace string // of events

	User   sluice.Lookup[sluice.User]                                         // as stored now
	Owner  func(ctx context.Context, p *sluice.Pipeline) (sluice.User, error) // the user who stored it, as stored now
	Secret sluice.Lookup[string]                                              // for a look, such as lint's

	// UseSecret reveals a secret to a run.
	UseSecret sluice.Lookup[string]

	// NearestKey returns the key itself if a webhook has it, or otherwise a similar key
	// that a webhook has and that is covered. It may be nil.
	NearestKey func(cover sluice.Cover, eventKey string) string

	// Base64Key returns a covered event key that matches a pattern of message keys and
	// whose webhook passes payloads on as base64, "" if there is none. It may be nil.
	Base64Key func(cover sluice.Cover, pattern string) string

	Limits run.Limits
	// at the same time, all pipelines together; 0 means sluice.DefaultMaxRuns
	MaxRuns int
	Grace   func() (context.Context, context.CancelFunc)      // bounds how long runs go on when the service stops
	Observe func(sluice.RunReport)                            // called after each run
	Passed  func(pipeline string)                             // called when a pipeline has passed over an event
	Note    func(context.Context, sluice.AuditEntry)          // adds an entry to the audit log
	Seen    func(ctx context.Context, command, target string) // called when a user sees payloads
	Spans   sluice.Spans
	Log     *slog.Logger
}

// A Runner runs pipelines: for events, for callers, and for other pipelines.
type Runner struct {
	RunnerOptions

	slots    chan struct{}
	hunger   *hunger
	testers  *limit.Shares[string] // by username
	programs sync.Map              // compiled, by the names of pipelines

	secretUses *limit.Cache[secretUse, time.Time] // in this hour that the audit log has
}

// NewRunner returns a runner.
func NewRunner(o RunnerOptions) *Runner {
	return &Runner{
		RunnerOptions: o,
		slots:         make(chan struct{}, cmp.Or(o.MaxRuns, sluice.DefaultMaxRuns)),
		hunger:        newHunger(o.Limits.Shared),
		testers:       limit.NewShares[string](testsPerUser),
		secretUses:    limit.NewCache[secretUse, time.Time](maxSecretUses),
	}
}

// Running returns how many runs are under way, for events and for callers.
func (r *Runner) Running() int { return len(r.slots) }

// unpacking is the memory that unpacking to the longest value takes, with its copies.
const unpacking = 3 * value.MaxSize

// Charge takes memory for what a command makes of its arguments, as a run does for a step,
// until release is called.
func (r *Runner) Charge(ctx context.Context, name string, args command.Args) (release func(), err error) {
	bytes, long := 0, false
	if name == "convert.fromGzip" {
		bytes = unpacking // a few bytes can unpack to all that a value may have
	}
	for _, arg := range args {
		expansion, isLong := expression.Expansion(name, arg.Value)
		bytes, long = bytes+expansion, long || isLong
	}
	return r.reserve(ctx, bytes, long)
}

// reserve takes memory, and a place if it is for what computes for long, until release is called.
func (r *Runner) reserve(ctx context.Context, bytes int, long bool) (release func(), err error) {
	limits := r.limits(ctx)
	giveBack, err := limits.Reserve(ctx, int64(bytes))
	if err != nil || !long {
		return giveBack, err
	}
	work := r.Limits.Computing.Work(ctx, sluice.UserFrom(ctx).Name, "")
	began, err := work.Begin(true)
	if err != nil {
		giveBack()
		return nil, err
	}
	return func() { work.End(began); giveBack() }, nil
}

// owner returns a function that looks up the user whose permissions a stored pipeline
// may borrow.
func (r *Runner) owner(p *sluice.Pipeline) func(context.Context) (sluice.User, error) {
	if p.Folder {
		return func(context.Context) (sluice.User, error) { return folderOwner(), nil }
	}
	return func(ctx context.Context) (sluice.User, error) { return r.Owner(ctx, p) }
}

// orNobody returns an owner as looked up. One who is deleted or disabled is nobody, and may do
// nothing.
func orNobody(owner sluice.User, err error) (sluice.User, error) {
	if sluice.Unauthenticated.Is(err) {
		err = nil
	}
	return owner, err
}

// call calls a command in a span.
func (r *Runner) call(ctx context.Context, c command.Command, args command.Args) (out any, err error) {
	err = r.Spans.Do(ctx, sluice.Span{Name: c.Name}, func(ctx context.Context) error {
		out, err = r.Commands().Call(ctx, c, args)
		return err
	})
	return out, err
}

// attempt runs a program once, in a span.
func (r *Runner) attempt(ctx context.Context, p *source.Program, s run.Start) (out run.Outcome, err error) {
	if t := rehearse.From(ctx); t != nil {
		return t.Run(ctx, p, s)
	}
	key, _ := s.Run.Event["eventKey"].(string)
	kind, _ := s.Run.Event["type"].(string)
	s.EventKey, s.Type = strings.Clone(key), strings.Clone(kind) // the report is kept longer than the event
	traceparent, _ := s.Run.Event["traceparent"].(string)
	span := sluice.Span{
		Name: "pipeline", Subject: s.Run.Pipeline, Traceparent: traceparent,
		SpanFacts: sluice.SpanFacts{EventKey: s.EventKey, TraceID: s.Run.TraceID},
	}
	if s.Run.Event != nil {
		span.Kind = sluice.ConsumerSpan
	}
	err = r.Spans.Do(ctx, span, func(ctx context.Context) error {
		outside := run.Environment{
			Limits: r.limits(ctx), Call: r.call, Secret: r.UseSecret, Pause: wait.For, Log: r.Log,
		}
		out, err = run.Run(ctx, outside, p, s)
		return err
	})
	r.noteSecrets(ctx, s.Run, out)
	return out, err
}

// noteSecrets enters in the audit log which secrets a run has used, and where it has sent
// requests to: once an hour for each user, pipeline and secret.
func (r *Runner) noteSecrets(ctx context.Context, run *sluice.Run, out run.Outcome) {
	now := time.Now()
	hour := now.Truncate(time.Hour)
	for _, secret := range out.Secrets {
		use := secretUse{cmp.Or(run.Caller, run.OwnerName), run.Pipeline, secret}
		if last, known := r.secretUses.Get(use, now); known && last.Equal(hour) {
			continue
		}
		r.secretUses.Put(use, hour, hour.Add(time.Hour))
		r.Note(ctx, sluice.AuditEntry{
			Username: use.user, Address: run.User().Address, Command: sluice.MayUseSecrets,
			Target:  strings.TrimSpace(secret + " " + strings.Join(out.Hosts, ",")),
			Outcome: sluice.AuditAllowed, Access: true, Pipeline: run.Pipeline, Owner: run.OwnerName,
			Caller: run.Caller, TraceID: run.TraceID,
		})
	}
}

// A secretUse is by a user, of a secret, in a pipeline.
type secretUse struct{ user, pipeline, secret string }

const maxSecretUses = 10_000

// observed reports how an attempt went and when the next one is due. Rehearsals, and
// attempts that did not get as far as a run, have no report.
func (r *Runner) observed(out run.Outcome, next time.Time) {
	if out.Report != nil {
		out.Report.Next = next.UTC()
		r.Observe(*out.Report)
	}
}
