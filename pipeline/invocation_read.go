package pipeline

import (
	"cmp"
	"regexp"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/spelling"
)

var (
	validID   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	validName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)
)

// invocation reads a step that calls a command, with all its parameters.
func (c *checker) invocation(s *step, n, params *node) action {
	cmd, known := c.commands.Find(s.name)
	switch {
	case !known:
		c.noCommand(n, s.name)
		return nil
	case cmd.HTTPOnly():
		c.problemf(n, "%s is called over HTTP only; it can't be a step.", s.name)
		return nil
	case cmd.Trigger:
		c.problemf(n, "%s starts a pipeline: it must be the first step, and outside of blocks.", s.name)
		return nil
	}
	a := &invocation{command: cmd}
	given := make(map[string]*node) // keys by the names of parameters
	before := len(c.problems)
	for key, item := range params.entries() {
		switch {
		case c.common(s, key.text, item):
		case key.text == "output":
			a.output = c.target(item)
		case key.text == "input" && !takes(cmd, "input"):
			input := c.value(item)
			a.input = &input
		default:
			c.argument(a, key, item, given)
		}
	}
	bodyParam, takesBody := cmd.BodyParam()
	if takesBody && given[bodyParam.Name] == nil {
		a.body = bodyParam.Name
	}
	for _, p := range cmd.Params {
		slip := len(c.problems) > before // perhaps about this one
		if p.Required && given[p.Name] == nil && p.Name != a.body && !slip {
			c.problemf(n, "The parameter %s of %s is required: %s", p.Name, s.name, p.Doc)
		}
	}
	return a
}

// takes reports whether a command has a parameter of that name.
func takes(cmd command.Command, name string) bool {
	_, err := cmd.Param(name)
	return err == nil
}

func (c *checker) noCommand(n *node, name string) {
	hint := sluice.OpenAPIPath + " lists those there are."
	if near := cmp.Or(c.commands.Nearest(name), spelling.Nearest(name, []string{"if", "foreach"})); near != "" {
		hint = "did you mean " + near + "?"
	}
	c.problemf(n, "There is no command %s; %s", quote(name), hint)
}

// argument reads one parameter of the command itself.
func (c *checker) argument(a *invocation, key, item *node, given map[string]*node) {
	p, err := a.command.Param(key.text)
	if err != nil {
		c.note(sluice.AsError(err).Coded(sluice.CodePipelineInvalid), key.line, key.column)
		return
	}
	if other := given[p.Name]; other != nil {
		if other.text != key.text { // otherwise it is noted already
			c.problemf(key, "%s and %s are names of the same parameter; leave one out.", other.text, key.text)
		}
		return
	}
	v := c.value(item)
	nullable := p.Type == ""
	if v.shape == constant && v.data == nil && !nullable {
		return // not given, or a mistake that is noted
	}
	given[p.Name] = key
	if v.shape == constant {
		if err := p.Check(v.data); err != nil {
			c.note(sluice.AsError(err).Coded(sluice.CodePipelineInvalid), item.line, item.column)
		}
	}
	a.args = append(a.args, argument{p.Name, v, p.Fixed && v.shape != constant, nullable})
}

// target reads where an output goes.
func (c *checker) target(n *node) target {
	s, _ := n.string()
	if s == "body" {
		return target{}
	}
	section, name, _ := strings.Cut(s, ".")
	switch {
	case section == "vars" && validName.MatchString(name):
		return target{toVars, name}
	case section == "headers" && validID.MatchString(name):
		return target{toHeaders, name}
	}
	c.problemf(n, "output must be body, vars.<name> or headers.<name>.")
	return target{}
}
