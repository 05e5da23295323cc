package pipeline

import (
	"context"
	"sluice/value"

	"sluice"
)

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
	x.made()
	if s.when != nil {
		condition, err := s.when.Eval(&x.scope)
		if err != nil {
			return x.placed(ctx, s, err)
		}
		if !holds(condition) {
			return nil
		}
	}
	before, weight := x.scope.Body, x.held[target{}]
	for tries := 0; ; tries++ {
		err := x.count(ctx)
		if err != nil {
			return x.placed(ctx, s, err)
		}
		if err = x.do(ctx, s); err == nil || x.over(ctx) {
			return err
		}
		x.assign(target{}, before, weight)
		x.made()
		switch {
		case tries < s.onError.retries:
			if x.environment.Pause(ctx, s.onError.wait) != nil {
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

// holds reports whether a condition does: everything but false and null.
func holds(condition any) bool { return condition != nil && condition != false }

// do does what a step says, once.
func (x *execution) do(ctx context.Context, s *step) error {
	switch a := s.action.(type) {
	case *choice:
		return x.choose(ctx, s, a)
	case *loop:
		return x.loop(ctx, s, a)
	case *invocation:
		return x.invoke(ctx, s, a)
	}
	return nil
}

func (x *execution) choose(ctx context.Context, s *step, a *choice) error {
	condition, err := a.condition.Eval(&x.scope)
	if err != nil {
		return x.placed(ctx, s, err)
	}
	if holds(condition) {
		return x.list(ctx, a.then)
	}
	return x.list(ctx, a.otherwise)
}

func (x *execution) loop(ctx context.Context, s *step, a *loop) error {
	items, err := x.items(a)
	if err != nil {
		return x.placed(ctx, s, err)
	}
	// The list itself is nobody's value, but it is there until the end.
	list := value.Scale{}
	if err := list.Add(items); err != nil {
		return x.placed(ctx, s, err)
	}
	x.total.memory += list.Memory
	defer func() { x.total.memory -= list.Memory }()
	variable := target{toVars, a.as}
	before, had := x.scope.Vars[a.as]
	weightBefore := x.held[variable]
	defer func() {
		if had {
			x.assign(variable, before, weightBefore)
		} else {
			x.unset(variable)
		}
	}()
	for _, item := range items {
		if err := x.count(ctx); err != nil {
			return x.placed(ctx, s, err)
		}
		x.assign(variable, item, weight{}) // it is part of the list
		if err := x.list(ctx, a.steps); err != nil || x.run.Exited() {
			return err
		}
	}
	return nil
}

func (x *execution) items(a *loop) ([]any, error) {
	in, err := a.in.eval(&x.scope)
	if err != nil {
		return nil, err
	}
	items, ok := in.([]any)
	if !ok {
		return nil, sluice.Errorf(sluice.Invalid, "foreach-invalid", "in must be a list, not %s; write #{… ?? []} where there may be none.", value.Describe(in))
	}
	if len(items) > x.environment.Limits.Items {
		return nil, sluice.Errorf(sluice.TooLarge, "too-many-items", "The list has %d items, foreach takes at most %d.", len(items), x.environment.Limits.Items)
	}
	return items, nil
}
