package source

import (
	"maps"
	"slices"
	"strings"

	"sluice"
)

// pipeline reads the section of that name.
func (c *checker) pipeline(n *node) (*Trigger, []*Step) {
	var t *Trigger
	steps := c.stepList(n, "pipeline", func(first *node) bool {
		name, params, ok := c.split(first)
		if !ok {
			return false
		}
		cmd, known := c.commands.Find(name)
		if known && cmd.Trigger {
			t = c.trigger(first, cmd, params)
		}
		return known && cmd.Trigger
	})
	return t, steps
}

// stepList reads a list of steps. takesFirst, if set, may consume the first item.
func (c *checker) stepList(n *node, name string, takesFirst func(*node) bool) []*Step {
	if n.kind != list || len(n.items) == 0 {
		c.problemf(n, "%s must be a list of at least one step.", name)
		return nil
	}
	var steps []*Step
	for i, item := range n.items {
		if i == 0 && takesFirst != nil && takesFirst(item) {
			continue
		}
		if s := c.readStep(item); s != nil {
			steps = append(steps, s)
		}
	}
	return steps
}

// steps reads the steps of a block.
func (c *checker) steps(n *node, name string) []*Step { return c.stepList(n, name, nil) }

// split returns the command's name of an item, and its parameters or nil. It notes no
// mistake.
func (c *checker) split(n *node) (name string, params *node, ok bool) {
	if s, isText := n.string(); isText {
		return s, nil, true
	}
	if n.kind != object || len(n.keys) != 1 {
		return "", nil, false
	}
	if params = n.items[0]; params.isNull() {
		params = nil
	}
	return n.keys[0].text, params, params == nil || params.kind == object
}

// readStep reads one item of a list of steps. It returns nil if the item is no step.
func (c *checker) readStep(n *node) *Step {
	c.count++
	if c.count > maxSteps {
		if c.count == maxSteps+1 {
			c.problemf(n, "There are more than %d steps; split them into pipelines that run each other with "+
				"pipeline.run.", maxSteps)
		}
		return nil
	}
	name, params, ok := c.split(n)
	if !ok {
		c.noStep(n)
		return nil
	}
	s := &Step{Name: name, Number: c.count, Line: n.line, Column: n.column}
	outer := c.step
	defer func() { c.step = outer }()
	c.step = name
	if params == nil {
		params = &node{kind: object, line: n.line, column: n.column}
	}
	if id := params.get("id"); id != nil {
		c.identify(s, id)
	}
	switch name {
	case "if":
		s.Action = c.choice(s, params)
	case "foreach":
		s.Action = c.loop(s, params)
	default:
		s.Action = c.invocation(s, n, params)
	}
	return s
}

// noStep notes an item that is no step, and explains what a step is.
func (c *checker) noStep(n *node) {
	switch {
	case n.kind == object && len(n.keys) > 1:
		c.problemf(n, "A step has one key, the name of its command, but here are %d: %s. Indent the parameters "+
			"further than the name.", len(n.keys), keyNames(n))
	case n.kind == object && len(n.keys) == 1:
		name := n.keys[0].text
		if _, known := c.commands.Find(name); !known && !slices.Contains(blocks, name) {
			c.noCommand(n, name)
			return
		}
		c.problemf(n.items[0], "The parameters of %s must be an object such as {name: value}, not %s.",
			sluice.Quote(name), n.items[0].describe())
	default:
		c.problemf(n, "A step is the name of a command, or one name: {parameters}, not %s.", n.describe())
	}
}

func keyNames(n *node) string {
	const most = 5
	names := make([]string, 0, most)
	for _, key := range n.keys[:min(most, len(n.keys))] {
		names = append(names, sluice.Quote(key.text))
	}
	return strings.Join(names, ", ")
}

// identify reads the id of a step, which must be unique.
func (c *checker) identify(s *Step, n *node) {
	s.ID = n.text
	if n.kind != scalar || !validID.MatchString(s.ID) {
		c.problemf(n, "id must be letters, digits, dots, _ and -, at most 100.")
		s.ID = ""
		return
	}
	c.step = s.Label()
	if line, taken := c.ids[s.ID]; taken {
		c.problemf(n, "The id %s is taken by the step on line %d.", sluice.Quote(s.ID), line)
		return
	}
	c.ids[s.ID] = s.Line
}

// ofSteps are the parameters that every step has.
var ofSteps = [...]string{"id", "if", "onError"}

// common reads a parameter if every step has it, and reports whether it did.
func (c *checker) common(s *Step, name string, n *node) bool {
	switch name {
	case "id": // read before
	case "if":
		s.When = c.expression(n, "if")
	case "onError":
		c.onError(s, n)
	default:
		return false
	}
	return true
}

func (c *checker) onError(s *Step, n *node) {
	if word, ok := n.string(); ok && slices.Contains([]string{"throw", "ignore"}, word) {
		s.OnError.Ignore = word == "ignore"
		return
	}
	retry := n.get("retry")
	if n.kind != object || len(n.keys) != 1 || retry == nil {
		c.problemf(n, "onError must be throw, ignore, or retry: {times, wait}.")
		return
	}
	s.OnError = Policy{Retries: defaultStepRetries, Wait: defaultStepWait}
	if retry.isNull() {
		return
	}
	c.options(retry, "retry", map[string]reader{
		"times": c.integer(&s.OnError.Retries, 1, maxStepRetries),
		"wait":  c.duration(&s.OnError.Wait, 0, maxStepWait),
	})
}

func (c *checker) choice(s *Step, params *node) Action {
	a := &Choice{}
	c.blockParams(s, params, map[string]reader{
		"true": into(&a.Condition, c.expression),
		"then": into(&a.Then, c.steps),
		"else": into(&a.Otherwise, c.steps),
	})
	if params.get("true") == nil {
		c.problemf(params, "The block if needs a condition: if: {true: …, then: […], else: […]}.")
	}
	if params.get("then") == nil && params.get("else") == nil {
		c.problemf(params, "The block if needs steps in then, in else, or in both.")
	}
	return a
}

// blockParams reads the parameters of a block: its own, and those of every step.
func (c *checker) blockParams(s *Step, params *node, own map[string]reader) {
	names := append(ofSteps[:], slices.Sorted(maps.Keys(own))...)
	for key, item := range params.entries() {
		read := own[key.text]
		switch {
		case read != nil:
			read(item, key.text)
		case key.text == "input" || key.text == "output":
			c.problemf(key, "The block %s has no %s: the body flows through its steps; give it to one of them.", s.Name,
				key.text)
		case !c.common(s, key.text, item):
			c.unknown(key, "parameter", names)
		}
	}
}

func (c *checker) loop(s *Step, params *node) Action {
	a := &Loop{As: "item"}
	c.blockParams(s, params, map[string]reader{
		"in": into(&a.In, c.listValue),
		"as": func(n *node, _ string) {
			if a.As = n.text; !validName.MatchString(a.As) {
				c.problemf(n, "as must be the name of a variable: letters, digits, _ and -.")
			}
		},
		"do": into(&a.Steps, c.steps),
	})
	for _, name := range []string{"in", "do"} {
		if params.get(name) == nil {
			c.problemf(params, "The block foreach needs %s: foreach: {in: …, as: …, do: […]}.", name)
		}
	}
	return a
}

// listValue reads a list, or an expression for one.
func (c *checker) listValue(n *node, name string) Value {
	if n.kind == list {
		return c.value(n)
	}
	if _, isText := n.string(); !isText {
		c.problemf(n, "in must be a list, or an expression that gives one, not %s.", n.describe())
		return Value{}
	}
	return Value{shape: formula, template: c.expression(n, name)}
}
