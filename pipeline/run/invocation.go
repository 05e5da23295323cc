package run

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline/source"
)

func (x *execution) invoke(ctx context.Context, s *source.Step, a *source.Invocation) error {
	started, before := time.Now(), x.run.User()
	err := x.perform(ctx, s, a)
	if err != nil {
		err = x.positioned(ctx, s, err)
	}
	x.note(s, started, before, err)
	return err
}

// perform calls the command and stores its output.
func (x *execution) perform(ctx context.Context, s *source.Step, a *source.Invocation) (err error) {
	defer x.recovered(s, &err)
	args, err := x.arguments(a)
	if err != nil {
		return err
	}
	for _, arg := range args {
		if err := x.spend(ctx, expression.Expansion(a.Command.Name, arg.Value)); err != nil {
			return err
		}
	}
	out, err := x.environment.Call(sluice.WithUser(ctx, x.run.User()), a.Command, args)
	if err != nil {
		return x.hideComputed(args, err)
	}
	x.showUser()
	if x.run.Exited() {
		return x.put(ctx, source.Target{}, out)
	}
	return x.put(ctx, a.Output, out)
}

// arguments returns the arguments of a step's command.
func (x *execution) arguments(a *source.Invocation) (command.Args, error) {
	args := make(command.Args, 0, len(a.Args)+1)
	weight := x.environment.Limits.scale()
	for i := range a.Args {
		given := &a.Args[i]
		if given.Fixed && x.run.Event != nil {
			return nil, sluice.Errorf(sluice.CodeForbidden, "The parameter %s of %s must be written out in the source: an event has started this run, and its sender must not choose. Use the block if, with a step for each choice.", given.Name, a.Command.Name).About(given.Name)
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
	return x.shown(a.Command, args), nil
}

// shown hides the secrets in the arguments of log, since people will read them. Its
// message is the body unless one is given. The body that log passes on does not change.
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
		args[i].Value = x.secrets.Hide(args[i].Value)
		said = said || args[i].Name == "message"
	}
	if !said {
		args = append(args, command.Arg{Name: "message", Value: x.secrets.Hide(passed)})
	}
	return args
}
