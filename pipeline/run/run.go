// Package run runs programs: from a Program and a Start to an Outcome. All that a run
// needs from outside is in its Environment, so a rehearsal is a run as well.
//
// The body flows through the steps of a block: after foreach it is the body of the last
// round. The item of a round is vars.<as>, which gets its former value back after the
// block.
//
// # Values
//
// A run works on values as JSON has them: nil, bool, int, float64, string, []any
// and map[string]any, and json.Number for numbers that neither int nor float64
// holds. Values never change: steps share them freely, and assigning a variable puts a new
// value in its place. Commands must not change values either.
//
// # Secrets
//
// A secret that an expression has revealed is cut out of everything that people see of the
// run: its final body, its errors, its report, the arguments of log. The body that one
// pipeline returns to another has no secrets either.
//
// # Neighbours
//
// Package pipeline/source makes programs. Package pipeline starts runs for events
// and callers and decides about further attempts; package pipeline/rehearse starts
// them for tests and tries.
package run

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline/source"
	"sluice/problem"
)

// An Environment is what a run needs from outside. Rehearsals have their own.
type Environment struct {
	Limits Limits
	Call   func(ctx context.Context, c command.Command, args command.Args) (any, error)
	Secret sluice.Lookup[string] // of a run whose owner may use secrets
	Pause  func(ctx context.Context, d time.Duration) error
	Log    *slog.Logger
}

// A Start is what a run starts with.
type Start struct {
	Run     *sluice.Run
	Body    any            // nil: that of the source
	Vars    map[string]any // they override those of the source
	Request map[string]any
	Counted bool // the caller has taken memory for the body

	// For the report:
	EventKey, Type    string
	Attempt, Delivery int
}

// An Outcome is what a run ended with.
type Outcome struct {
	Body   any            // without secrets; nil after an error
	Vars   map[string]any // as the last step left them, with secrets, for rehearsals
	Report *sluice.RunReport
	Passed bool // the program does not want the event, and did not run

	// Secrets are the names of those that the run has used, and Hosts where it has sent
	// requests to.
	Secrets, Hosts []string

	Sent []uint64 // sequences of the events that it has sent
}

// Run runs a program. Neither the body and the report of its outcome nor the error has
// secrets. After an error the outcome has a report as well.
func Run(ctx context.Context, e Environment, p *source.Program, s Start) (Outcome, error) {
	x := &execution{
		environment: e, program: p, run: s.Run, started: time.Now(), revealed: map[string]string{},
		report: newReport(p, s),
	}
	x.held = map[source.Target]weight{}
	if e.Limits.Shared != nil {
		x.shared = e.Limits.Shared.Hold()
	}
	defer x.shared.Release()
	x.secrets, ctx = secretsOf(ctx)
	limit := min(p.Timeout, cmp.Or(e.Limits.RunTime, p.Timeout))
	ctx, cancel := context.WithTimeoutCause(sluice.WithRun(ctx, s.Run), limit, TooLongError(limit))
	defer cancel()
	ctx, done := x.working(ctx)
	defer done()
	x.scope.Request = s.Request
	x.scope.Memory = func(bytes int) error { return x.spend(ctx, bytes) }
	x.scope.Secret = func(name string) (string, error) { return x.reveal(ctx, name) }
	s.Run.Secret, s.Run.Hide, s.Run.Place = x.reveal, x.secrets.add, x.place
	if wants, err := x.wants(s); !wants && err == nil {
		return Outcome{Passed: true}, nil
	} else if err != nil {
		return x.end(x.positioned(ctx, p.Trigger.Step(), err))
	}
	err := x.begin(ctx, s)
	if err == nil {
		err = x.list(ctx, p.Steps)
	}
	return x.end(err)
}

// wants reports whether the program wants the event that starts it, if one does.
func (x *execution) wants(s Start) (bool, error) {
	if s.Delivery == 0 || s.Run.Event == nil || x.program.Trigger == nil {
		return true, nil
	}
	return x.program.Trigger.Wants(s.Run.Event, x.scope)
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
	report  *sluice.RunReport
	started time.Time
	noted   int // bytes of exchanges in the report

	used, hosts []string          // see Outcome
	revealed    map[string]string // secrets by their names

	steps int

	current *source.Step
	kept    bool  // its output is that of an earlier attempt
	turns   []int // of the loops around it
}

// place implements sluice.Run.Place. A step with an id is known by that wherever it stands.
func (x *execution) place() []string {
	place := append(slices.Clone(x.run.Above), x.run.Pipeline, "", x.current.ID)
	if x.current.ID == "" {
		place[len(place)-2] = strconv.Itoa(x.current.Number)
	}
	for _, turn := range x.turns {
		place = append(place, strconv.Itoa(turn))
	}
	return append(place, "/") // what follows is a pipeline within
}

// end returns the outcome of the run.
func (x *execution) end(err error) (Outcome, error) {
	out := Outcome{Vars: x.scope.Vars, Report: x.report, Secrets: x.used, Hosts: x.hosts, Sent: x.run.Sent()}
	x.report.Started, x.report.Duration = x.started.UTC(), sluice.Milliseconds(time.Since(x.started))
	x.report.Status, x.report.Sent = sluice.StatusOK, x.run.Sent()
	switch {
	case err == nil:
		out.Body = x.secrets.Hide(x.scope.Body)
		return out, nil
	case waits(err):
		x.report.Status = sluice.StatusProcessing
		return out, err
	}
	failure := x.secrets.hideError(sluice.AsError(err)).InCall(x.run.TraceID)
	x.report.Status, x.report.Error = sluice.StatusError, problem.Of(failure)
	return out, failure
}

// begin fills body, headers and variables, in this order: each may refer to those before.
func (x *execution) begin(ctx context.Context, s Start) error {
	x.showUser()
	x.scope.Vars, x.scope.Headers = map[string]any{}, map[string]any{}
	body, err := s.Body, error(nil)
	if body == nil && x.program.Body != nil {
		body, err = x.program.Body.Eval(&x.scope)
	}
	if err == nil {
		err = x.put(ctx, source.Target{}, body)
	}
	if err != nil {
		return about("body", err)
	}
	if s.Counted {
		x.assign(source.Target{}, x.scope.Body, weight{size: x.held[source.Target{}].size})
		x.made()
	}
	if err := x.fill(ctx, source.ToHeaders, x.program.Headers, nil); err != nil {
		return err
	}
	if len(s.Vars) > source.MaxNames {
		return sluice.CodeTooManyVariables.Errorf("%d variables were given, at most %d are allowed.",
			len(s.Vars), source.MaxNames)
	}
	for name, v := range s.Vars {
		if err := x.put(ctx, source.Target{Section: source.ToVars, Name: name}, v); err != nil {
			return about(source.ToVars.Of(name), err)
		}
	}
	return x.fill(ctx, source.ToVars, x.program.Vars, s.Vars)
}

// fill assigns the fields of a source, except those that are given.
func (x *execution) fill(
	ctx context.Context, where source.Section, fields []source.Field, given map[string]any,
) error {
	for i := range fields {
		if _, has := given[fields[i].Name]; has {
			continue
		}
		v, err := fields[i].Value.Eval(&x.scope)
		if err == nil {
			err = x.put(ctx, source.Target{Section: where, Name: fields[i].Name}, v)
		}
		if err != nil {
			return about(where.Of(fields[i].Name), err)
		}
	}
	return nil
}

// about prefixes an error with the part of the source that it is about.
func about(part string, err error) error {
	e := blamed(err)
	return e.Saying(part + ": " + e.Message)
}

// For returns the start of a run for the delivery of an event. The run gets what it is about.
func For(d sluice.Delivery, attempt int, run *sluice.Run) Start {
	run.TraceID, run.CorrelationID, run.Hops, run.Event = d.TraceID, d.CorrelationID, d.Hops, d.Message
	run.Kept = d.Kept
	d.Message["forwardId"] = sluice.ForwardID(run) // what a replay is to be known by as well
	return Start{
		Run: run, Body: d.Message, Attempt: attempt, Delivery: d.Count,
		Request: map[string]any{
			"traceId":       d.TraceID,
			"correlationId": d.Message["correlationId"],
			"deliveryCount": d.Count,
			"attempt":       attempt,
			"method":        d.Message["method"],
			"query":         d.Message["query"],
			"headers":       d.Message["headers"],
		},
	}
}
