package source

import (
	"sluice"
	"sluice/command"
)

// trigger reads the first step of a pipeline that events start.
func (c *checker) trigger(n *node, cmd command.Command, params *node) *Trigger {
	c.steps++
	c.step = cmd.Name
	defer func() { c.step = "" }()
	t := &Trigger{Command: cmd.Name, Line: n.line, Column: n.column}
	before := len(c.problems)
	if params == nil {
		params = &node{kind: object}
	}
	for key, item := range params.entries() {
		switch key.text {
		case "id":
			c.identify(&Step{Name: cmd.Name, Line: n.line}, item)
			continue
		case "if", "onError", "input", "output":
			c.problemf(key, "%s starts the pipeline, so it has no %s; use a step behind it.", cmd.Name, key.text)
			continue
		}
		c.triggerKey(t, cmd, key, item)
	}
	if t.pattern == "" && len(c.problems) == before {
		c.problemf(n, "%s needs to know what to listen to: %s.", cmd.Name, cmd.Params[0].Name)
	}
	return t
}

// triggerKey reads the key that a pipeline listens to.
func (c *checker) triggerKey(t *Trigger, cmd command.Command, key, item *node) {
	p, err := cmd.Param(key.text)
	if err != nil {
		c.problemf(key, "%s", sluice.AsError(err).Message)
		return
	}
	v := c.value(item)
	if v.shape != constant {
		c.problemf(item, "The parameter %s of %s can't be computed: it is needed before there is anything to compute it from.", p.Name, cmd.Name)
		return
	}
	if err := p.Check(v.data); err != nil {
		c.problemf(item, "%s", sluice.AsError(err).Message)
		return
	}
	pattern, _ := v.data.(string)
	if t.pattern != "" {
		c.problemf(key, "%s listens to one key, and there is one already; leave one out.", cmd.Name)
		return
	}
	if !sluice.ValidPattern(pattern) {
		c.problemf(item, "%s is no pattern of keys: a key is %s; * stands for one group, and # at the end for any number of groups.", Quote(pattern), sluice.KeyRule)
		return
	}
	t.pattern = pattern
	if p.Name == "eventKey" {
		t.pattern = sluice.EventPrefix + pattern
	}
}
