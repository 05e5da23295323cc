package run

import (
	"context"
	"errors"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline/source"
	"sluice/value"
)

// list runs steps one after the other.
func (x *execution) list(ctx context.Context, steps []*source.Step) error {
	for _, s := range steps {
		if err := x.step(ctx, s); err != nil || x.run.Exited {
			return err
		}
	}
	return nil
}

// step runs a step if its condition holds, and again as its policy says.
func (x *execution) step(ctx context.Context, s *source.Step) error {
	x.made()
	if s.When != nil {
		condition, err := s.When.Eval(&x.scope)
		if err != nil {
			return x.positioned(ctx, s, err)
		}
		if !holds(condition) {
			return nil
		}
	}
	before, weight := x.scope.Body, x.held[source.Target{}]
	for tries := 0; ; tries++ {
		err := x.count(ctx)
		if err != nil {
			return x.positioned(ctx, s, err)
		}
		if err = x.do(ctx, s); err == nil || x.over(ctx, err) || waits(err) {
			return err
		}
		x.assign(source.Target{}, before, weight)
		x.made()
		switch {
		case tries < s.OnError.Retries:
			if x.environment.Pause(ctx, s.OnError.Wait) != nil {
				return x.positioned(ctx, s, ctx.Err())
			}
		case s.OnError.Ignore:
			x.ignore(err)
			return nil
		default:
			return err
		}
	}
}

// waits reports whether a step has no answer yet. No policy is about that.
func waits(err error) bool {
	_, ok := errors.AsType[*sluice.WaitsError](err)
	return ok
}

// holds reports whether a condition holds: anything but false and null does.
func holds(condition any) bool { return condition != nil && condition != false }

// do runs the action of a step once.
func (x *execution) do(ctx context.Context, s *source.Step) error {
	switch a := s.Action.(type) {
	case *source.Choice:
		return x.choose(ctx, s, a)
	case *source.Loop:
		return x.loop(ctx, s, a)
	case *source.Invocation:
		return x.invoke(ctx, s, a)
	}
	return nil
}

func (x *execution) choose(ctx context.Context, s *source.Step, a *source.Choice) error {
	condition, err := a.Condition.Eval(&x.scope)
	if err != nil {
		return x.positioned(ctx, s, err)
	}
	if holds(condition) {
		return x.list(ctx, a.Then)
	}
	return x.list(ctx, a.Otherwise)
}

func (x *execution) loop(ctx context.Context, s *source.Step, a *source.Loop) error {
	items, err := x.items(a)
	if err != nil {
		return x.positioned(ctx, s, err)
	}
	// The list may be no value of the run, but it is in memory until the end.
	list := value.Scale{}
	if err := list.Add(items); err != nil {
		return x.positioned(ctx, s, err)
	}
	x.total.memory += list.Memory
	defer func() { x.total.memory -= list.Memory }()
	variable := source.Target{Section: source.ToVars, Name: a.As}
	before, had := x.scope.Vars[a.As]
	weightBefore := x.held[variable]
	defer func() {
		if had {
			x.assign(variable, before, weightBefore)
		} else {
			x.unset(variable)
		}
	}()
	x.turns = append(x.turns, 0)
	defer func() { x.turns = x.turns[:len(x.turns)-1] }()
	for turn, item := range items {
		x.turns[len(x.turns)-1] = turn
		if err := x.count(ctx); err != nil {
			return x.positioned(ctx, s, err)
		}
		x.assign(variable, item, weight{}) // it is part of the list
		if err := x.list(ctx, a.Steps); err != nil || x.run.Exited {
			return err
		}
	}
	return nil
}

func (x *execution) items(a *source.Loop) ([]any, error) {
	in, err := a.In.Eval(&x.scope)
	if err != nil {
		return nil, err
	}
	items, ok := in.([]any)
	if !ok {
		return nil, sluice.CodeForeachInvalid.Errorf(
			"in must be a list, not %s; write #{… ?? []} where there may be none.", value.Describe(in))
	}
	if len(items) > maxItems {
		return nil, sluice.CodeTooManyItems.Errorf("The list has %d items, foreach takes at most %d.",
			len(items), maxItems)
	}
	return items, nil
}

func (x *execution) invoke(ctx context.Context, s *source.Step, a *source.Invocation) error {
	started, before := time.Now(), x.run.User()
	err := x.perform(ctx, s, a)
	if err != nil && !waits(err) {
		err = x.positioned(ctx, s, err)
	}
	x.note(s, started, before, err)
	return err
}

// perform calls the command and stores its output.
func (x *execution) perform(ctx context.Context, s *source.Step, a *source.Invocation) (err error) {
	defer x.recovered(s, &err)
	x.current, x.kept, x.run.Text = s, false, a.Once
	output := x.call
	if a.Once != "" && !a.Command.Waits && x.run.Kept != nil {
		output = x.callOnce
	}
	out, err := output(ctx, a)
	if err != nil {
		return err
	}
	x.showUser()
	if x.run.Exited {
		return x.put(ctx, source.Target{}, out)
	}
	return x.put(ctx, a.Output, out)
}

// call calls the command of a step, and returns its output.
func (x *execution) call(ctx context.Context, a *source.Invocation) (any, error) {
	args, err := x.arguments(a)
	if err != nil {
		return nil, err
	}
	name, long := a.Command.Name, false
	for _, arg := range args {
		expansion, isLong := expression.Expansion(name, arg.Value)
		if err := x.spend(ctx, expansion); err != nil {
			return nil, err
		}
		long = long || isLong
	}
	if expression.Computes(name) {
		began, err := x.scope.Work.Begin(long)
		if err != nil {
			return nil, err
		}
		defer x.scope.Work.End(began)
	}
	out, err := x.environment.Call(sluice.WithUser(ctx, x.run.User()), a.Command, args)
	if err != nil {
		return nil, x.hideComputed(args, err)
	}
	return out, nil
}

// callOnce is call for a step that is done once, in whichever attempt: the output is kept before the
// next step begins.
func (x *execution) callOnce(ctx context.Context, a *source.Invocation) (any, error) {
	step := x.run.StepKey()
	known, err := x.run.Kept.Output(ctx, step)
	if x.kept = known != nil; x.kept && err == nil {
		return value.Decode(known)
	}
	var out any
	if err == nil {
		out, err = x.call(ctx, a)
	}
	if err == nil {
		out, _, err = normal(out)
	}
	if err != nil {
		return nil, err
	}
	text, err := value.AppendJSON(nil, out, sluice.MaxKept)
	switch {
	case len(text) > sluice.MaxKept:
		return nil, sluice.CodeResultTooLarge.Errorf("The step was done, but its output has more than %d "+
			"bytes as JSON, so that it can't be kept, as once demands.", sluice.MaxKept)
	case err != nil:
		return nil, err
	}
	return out, x.run.Kept.Keep(context.WithoutCancel(ctx), step, text)
}

// arguments returns the arguments of a step's command.
func (x *execution) arguments(a *source.Invocation) (command.Args, error) {
	args := make(command.Args, 0, len(a.Args)+1)
	weight := value.Scale{}
	for i := range a.Args {
		given := &a.Args[i]
		if given.Fixed && x.run.Event != nil {
			return nil, sluice.CodeForbidden.Errorf("The parameter %s of %s must be written out in the "+
				"source: an event has started this run, and its sender must not choose. Use the block if, with a "+
				"step for each choice.", given.Name, a.Command.Name).About(given.Name)
		}
		v, err := given.Value.Eval(&x.scope)
		if err != nil {
			return nil, err
		}
		if v == nil && !given.Nullable {
			continue
		}
		if err := weight.Add(v); err != nil {
			return nil, err
		}
		args = append(args, command.Arg{Name: given.Name, Value: v})
	}
	input := x.scope.Body
	if a.Body != "" && a.Input != nil {
		var err error
		if input, err = a.Input.Eval(&x.scope); err == nil {
			err = weight.Add(input)
		}
		if err != nil {
			return nil, err
		}
	}
	if a.Body != "" {
		args = append(args, command.Arg{Name: a.Body, Value: input})
	}
	return x.showArgs(a.Command, args), nil
}

// showArgs hides the secrets in the arguments of log, since people will read them. Its
// message is the body unless one is given. The body that log passes on does not change.
func (x *execution) showArgs(cmd command.Command, args command.Args) command.Args {
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
		args[i].Value = x.secrets.Hide(args[i].Value)
		said = said || args[i].Name == "message"
	}
	if !said {
		args = append(args, command.Arg{Name: "message", Value: x.secrets.Hide(passed)})
	}
	return args
}
