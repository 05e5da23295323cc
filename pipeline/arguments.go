package pipeline

import (
	"context"

	"sluice"
	"sluice/command"
)

// arguments returns what a step hands to its command.
func (x *execution) arguments(a *invocation) (command.Args, error) {
	args := make(command.Args, 0, len(a.args)+1)
	weight := x.limits.scale()
	for i := range a.args {
		given := &a.args[i]
		if given.fixed && x.run.Event != nil {
			return nil, chosenBySender(a.command.Name, given.name)
		}
		v, err := given.value.eval(&x.scope)
		if err != nil {
			return nil, err
		}
		if v == nil && !given.nullable {
			continue
		}
		if err := weight.Add(v); err != nil {
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
			err = weight.Add(input)
		}
		if err != nil {
			return nil, err
		}
	}
	args = append(args, command.Arg{Name: a.body, Value: input})
	return x.shown(a.command, args), nil
}

// chosenBySender is the error for a parameter that the sender of an event could
// choose.
func chosenBySender(cmd, parameter string) error {
	return sluice.Errorf(sluice.CodeForbidden, "The parameter %s of %s must be written out in the source: an event has started this run, and its sender must not choose. Use the block if, with a step for each choice.", parameter, cmd).About(parameter)
}

// shown hides the secrets in what people will read: the arguments of log, whose
// message is the body unless one is given. The body that log passes on stays
// unchanged.
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

// reveal returns a secret to an expression, and remembers it, to hide it from
// people.
func (x *execution) reveal(ctx context.Context, name string) (string, error) {
	v, err := x.secret(ctx, x.run, name)
	if err == nil {
		x.secrets.add(v)
	}
	return v, err
}
