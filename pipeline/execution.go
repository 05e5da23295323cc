package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
)

// An execution is one run of a program: its body, variables and headers, and
// what it has used up. A single goroutine works on it.
type execution struct {
	environment

	program *Program
	run     *sluice.Run
	scope   expression.Scope
	user    sluice.User // that scope.User shows
	secrets *secrets
	report  *sluice.RunReport // nil: nobody wants one
	started time.Time

	steps int
	held  map[target]int // sizes of what is held
	total int
}

// An environment is what a run needs of the world. Tests of pipelines have
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
	vars    map[string]any // go before those of the source
	request map[string]any
}

// newExecution prepares a run. The report, if there is one, is filled in.
func newExecution(e environment, p *Program, b beginning, report *sluice.RunReport) *execution {
	return &execution{environment: e, program: p, run: b.run, report: report, held: make(map[target]int)}
}

// execute runs the program and gives its final body. There are no secrets in
// that, nor in the report or the error.
func (x *execution) execute(ctx context.Context, b beginning) (any, error) {
	x.started = time.Now()
	x.secrets, ctx = secretsOf(ctx)
	limit := min(x.program.timeout, x.limits.RunTime)
	ctx, cancel := context.WithTimeoutCause(sluice.WithRun(ctx, b.run), limit, tooLongError(limit))
	defer cancel()
	x.scope.Request = b.request
	x.scope.Secret = func(name string) (string, error) { return x.reveal(ctx, name) }
	err := x.begin(b)
	if err == nil {
		err = x.list(ctx, x.program.steps)
	}
	return x.end(err)
}

// end gives what leaves the run.
func (x *execution) end(err error) (any, error) {
	if x.report != nil {
		x.report.Started, x.report.Duration, x.report.Status = x.started.UTC(), time.Since(x.started), sluice.StatusOK
	}
	if err == nil {
		return x.secrets.hide(x.scope.Body), nil
	}
	failure := x.secrets.hideError(sluice.AsError(err))
	failure.TraceID = x.run.TraceID
	if x.report != nil {
		problem := failure.Problem()
		x.report.Status, x.report.Error = sluice.StatusError, &problem
	}
	return nil, failure
}

// begin fills body, headers and variables, in this order: each may refer to
// those before it.
func (x *execution) begin(b beginning) error {
	x.showUser()
	x.scope.Vars, x.scope.Headers = map[string]any{}, map[string]any{}
	body := b.body
	if body == nil && x.program.body != nil {
		var err error
		if body, err = x.program.body.eval(&x.scope); err != nil {
			return about("body", err)
		}
	}
	if err := x.put(target{}, body); err != nil {
		return about("body", err)
	}
	if err := x.fill(toHeaders, "headers.", x.program.headers, nil); err != nil {
		return err
	}
	if len(b.vars) > maxNames {
		return sluice.Errorf(sluice.TooLarge, "too-many-variables", "%d variables were given, at most %d are allowed.", len(b.vars), maxNames)
	}
	for name, v := range b.vars {
		if err := x.put(target{toVars, name}, v); err != nil {
			return about("vars."+name, err)
		}
	}
	return x.fill(toVars, "vars.", x.program.vars, b.vars)
}

// fill puts the fields of a source in place, without those that are given.
func (x *execution) fill(where place, prefix string, fields []field, given map[string]any) error {
	for i := range fields {
		if _, has := given[fields[i].name]; has {
			continue
		}
		v, err := fields[i].value.eval(&x.scope)
		if err == nil {
			err = x.put(target{where, fields[i].name}, v)
		}
		if err != nil {
			return about(prefix+fields[i].name, err)
		}
	}
	return nil
}

// about says which part of the source an error at the start is about.
func about(part string, err error) error {
	e := *sluice.AsError(err)
	e.Message = part + ": " + e.Message
	return &e
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
	if s.when != nil {
		condition, err := s.when.Eval(&x.scope)
		if err != nil {
			return x.placed(ctx, s, err)
		}
		if !holds(condition) {
			return nil
		}
	}
	before, size := x.scope.Body, x.held[target{}]
	for tries := 0; ; tries++ {
		err := x.count(ctx)
		if err != nil {
			return x.placed(ctx, s, err)
		}
		if err = s.do(ctx, x, s); err == nil || x.over(ctx) {
			return err
		}
		x.assign(target{}, before, size)
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

// ignore goes on after an error, which the variable error tells about.
func (x *execution) ignore(err error) {
	e := x.secrets.hideError(sluice.AsError(err))
	x.assign(target{toVars, "error"}, map[string]any{
		"code": e.Code, "statusCode": e.StatusCode(), "message": e.Message, "step": e.Place.Step,
	}, len(e.Message))
}

// invoke calls a command as the user of the run. A panic in it is an error.
func (x *execution) invoke(ctx context.Context, cmd command.Command, args command.Args, s *step) (out any, err error) {
	defer func() {
		if r := recover(); r != nil {
			x.log.Error("A step of a pipeline panicked.", "traceId", x.run.TraceID, "pipeline", x.run.Pipeline, "step", s.name, "line", s.line,
				"panic", x.secrets.hideText(fmt.Sprint(r)), "stack", string(debug.Stack()))
			out, err = nil, sluice.Errorf(sluice.Internal, "step-panicked", "The step failed inside; the server's log has the cause under the trace id %s.", x.run.TraceID)
		}
	}()
	return x.call(sluice.WithUser(ctx, x.run.User()), cmd, args)
}

// arguments gives what a step hands to its command.
func (x *execution) arguments(a *call) (command.Args, error) {
	args := make(command.Args, 0, len(a.args)+1)
	weight := scale{limits: &x.limits}
	for i := range a.args {
		given := &a.args[i]
		v, err := given.value.eval(&x.scope)
		if err != nil {
			return nil, err
		}
		if v == nil && !given.nullable {
			continue
		}
		if err := weight.add(v, 0); err != nil {
			return nil, err
		}
		args = append(args, command.Arg{Name: given.name, Value: v})
	}
	if a.body == "" {
		return x.shown(a.command, args), nil
	}
	input := x.scope.Body
	if a.input != nil {
		var err error
		if input, err = a.input.eval(&x.scope); err == nil {
			err = weight.add(input, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	args = append(args, command.Arg{Name: a.body, Value: input})
	return x.shown(a.command, args), nil
}

// shown hides the secrets in what people will read: the arguments of log, whose
// message is the body unless one is given. But the body that it passes on stays
// as it is.
func (x *execution) shown(cmd command.Command, args command.Args) command.Args {
	if cmd.Name != "log" || !x.secrets.any() {
		return args
	}
	said := false
	var passed any
	for i := range args {
		if args[i].Name == "body" {
			passed = args[i].Value
			continue
		}
		args[i].Value = x.secrets.hide(args[i].Value)
		said = said || args[i].Name == "message"
	}
	if !said {
		args = append(args, command.Arg{Name: "message", Value: x.secrets.hide(passed)})
	}
	return args
}

// reveal gives a secret to an expression, and remembers it.
func (x *execution) reveal(ctx context.Context, name string) (string, error) {
	v, err := x.secret(ctx, x.run, name)
	if err == nil {
		x.secrets.add(v)
	}
	return v, err
}

// placed gives an error the place of the step it happened in.
func (x *execution) placed(ctx context.Context, s *step, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	e := *sluice.AsError(err)
	e.Message = s.title() + ": " + e.Message
	e.Place = sluice.Place{Line: s.line, Column: s.column, Step: label(s.name, s.id)}
	return &e
}

// maxReported is how many steps of a run its report lists.
const maxReported = 500

// note enters a step in the report.
func (x *execution) note(s *step, started time.Time, err error) {
	if x.report == nil || len(x.report.Steps) >= maxReported {
		return
	}
	r := sluice.StepReport{
		Command:  s.name,
		ID:       s.id,
		Line:     s.line,
		Started:  started.Sub(x.started),
		Duration: time.Since(started),
		Status:   sluice.StatusOK,
	}
	if err != nil {
		r.Status, r.Code = sluice.StatusError, sluice.AsError(err).Code
	}
	x.report.Steps = append(x.report.Steps, r)
}
