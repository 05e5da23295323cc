package pipeline

import (
	"context"
	"maps"
	"slices"

	"sluice"
	"sluice/value"
)

// A choice is the action of the block if: one list of steps or another.
type choice struct {
	condition       *template
	then, otherwise []*step
}

func (c *checker) choice(s *step, params *node) action {
	a := &choice{}
	c.blockParams(s, params, map[string]func(*node){
		"true": func(n *node) { a.condition = c.expression(n, "true") },
		"then": func(n *node) { a.then = c.stepList(n, "then", nil) },
		"else": func(n *node) { a.otherwise = c.stepList(n, "else", nil) },
	})
	if params.get("true") == nil {
		c.problemf(params, "The block if needs a condition: if: {true: …, then: […], else: […]}.")
	}
	if params.get("then") == nil && params.get("else") == nil {
		c.problemf(params, "The block if needs steps in then, in else, or in both.")
	}
	return a
}

// blockParams reads the parameters of a block: those of its own, and those that
// every step has.
func (c *checker) blockParams(s *step, params *node, own map[string]func(*node)) {
	names := slices.AppendSeq([]string{"id", "if", "onError"}, maps.Keys(own))
	for key, item := range params.entries() {
		read := own[key.text]
		switch {
		case read != nil:
			read(item)
		case key.text == "input" || key.text == "output":
			c.problemf(key, "The block %s has no %s: the body flows through its steps; give it to one of them.", s.name, key.text)
		case !c.common(s, key.text, item):
			c.unknown(key, "parameter", names)
		}
	}
}

func (a *choice) do(ctx context.Context, x *execution, s *step) error {
	condition, err := a.condition.Eval(&x.scope)
	if err != nil {
		return x.placed(ctx, s, err)
	}
	if holds(condition) {
		return x.list(ctx, a.then)
	}
	return x.list(ctx, a.otherwise)
}

// A loop is the action of the block foreach: its steps are done for each item
// of a list, which is a variable meanwhile. The body flows through all of them:
// after the loop it is what the last step has made of it.
type loop struct {
	in    sourceValue
	as    string
	steps []*step
}

func (c *checker) loop(s *step, params *node) action {
	a := &loop{as: "item"}
	c.blockParams(s, params, map[string]func(*node){
		"in": func(n *node) { a.in = c.listValue(n) },
		"as": func(n *node) {
			if a.as = n.text; !validName.MatchString(a.as) {
				c.problemf(n, "as must be the name of a variable: letters, digits, _ and -.")
			}
		},
		"do": func(n *node) { a.steps = c.stepList(n, "do", nil) },
	})
	for _, name := range []string{"in", "do"} {
		if params.get(name) == nil {
			c.problemf(params, "The block foreach needs %s: foreach: {in: …, as: …, do: […]}.", name)
		}
	}
	return a
}

// listValue reads a list, or an expression that results in one.
func (c *checker) listValue(n *node) sourceValue {
	if n.kind == list {
		return c.value(n)
	}
	if _, isText := n.string(); !isText {
		c.problemf(n, "in must be a list, or an expression that gives one, not %s.", n.describe())
		return sourceValue{}
	}
	return sourceValue{shape: formula, template: c.expression(n, "in")}
}

func (a *loop) do(ctx context.Context, x *execution, s *step) error {
	items, err := a.items(x)
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

func (a *loop) items(x *execution) ([]any, error) {
	in, err := a.in.eval(&x.scope)
	if err != nil {
		return nil, err
	}
	items, ok := in.([]any)
	if !ok {
		return nil, sluice.Errorf(sluice.CodeForeachInvalid, "in must be a list, not %s; write #{… ?? []} where there may be none.", value.Describe(in))
	}
	if len(items) > x.limits.Items {
		return nil, sluice.Errorf(sluice.CodeTooManyItems, "The list has %d items, foreach takes at most %d.", len(items), x.limits.Items)
	}
	return items, nil
}
