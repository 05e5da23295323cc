package pipeline

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
)

// An invocation is the action of a step that calls a command.
type invocation struct {
	command command.Command
	args    []argument
	body    string       // the parameter that gets the input; "" if none does
	input   *sourceValue // nil: the body
	output  target
}

// An argument is a parameter that a step gives its command.
type argument struct {
	name     string
	value    sourceValue
	fixed    bool // must not be computed in a run that an event has started
	nullable bool // null is a value of its own, not the lack of one
}

// A target is where the output of a step goes.
type target struct {
	place place
	name  string // of a variable or header
}

type place int

const (
	toBody place = iota
	toVars
	toHeaders
)

func (a *invocation) do(ctx context.Context, x *execution, s *step) error {
	started, before := time.Now(), x.run.User()
	err := a.perform(ctx, x, s)
	if err != nil {
		err = x.placed(ctx, s, err)
	}
	x.note(s, started, before, err)
	return err
}

// perform calls the command and stores its output.
func (a *invocation) perform(ctx context.Context, x *execution, s *step) (err error) {
	defer x.recovered(s, &err)
	args, err := x.arguments(a)
	if err != nil {
		return err
	}
	for _, arg := range args {
		if err := x.spend(ctx, expression.Expansion(a.command.Name, arg.Value)); err != nil {
			return err
		}
	}
	out, err := x.call(sluice.WithUser(ctx, x.run.User()), a.command, args)
	if err != nil {
		return err
	}
	x.showUser()
	if x.run.Exited() {
		return x.put(ctx, target{}, out)
	}
	return x.put(ctx, a.output, out)
}
