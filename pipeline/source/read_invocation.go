package source

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/spelling"
	"sluice/value"
)

var (
	validID   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	validName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)
)

// invocation reads a step that calls a command, with all its parameters.
func (c *checker) invocation(s *Step, n, params *node) Action {
	cmd, known := c.commands.Find(s.Name)
	switch {
	case !known:
		c.noCommand(n, s.Name)
		return nil
	case cmd.HTTPOnly():
		c.problemf(n, "%s is called over HTTP only; it can't be a step.", s.Name)
		return nil
	case cmd.Trigger:
		c.problemf(n, "%s starts a pipeline: it must be the first step, and outside of blocks.", s.Name)
		return nil
	}
	a := &Invocation{Command: cmd}
	given := map[string]*node{} // keys by the names of parameters
	before := len(c.problems)
	_, noInput := cmd.Param("input")
	for key, item := range params.entries() {
		switch {
		case c.common(s, key.text, item):
		case key.text == "output":
			a.Output = c.target(item)
		case key.text == "input" && noInput != nil:
			a.Input = new(c.value(item))
		case key.text == "once" && cmd.Outside():
			a.Once = c.once(s, params, item)
		default:
			c.argument(a, key, item, given)
		}
	}
	if cmd.Waits {
		a.Once = c.identity(s, params)
	}
	if body, _ := cmd.BodyParam(); given[body.Name] == nil {
		a.Body = body.Name
	}
	lacks := func(p command.Param) bool { return p.Required && given[p.Name] == nil && p.Name != a.Body }
	if i := slices.IndexFunc(cmd.Params, lacks); i >= 0 && len(c.problems) == before { // otherwise it may be misspelt
		c.problemf(n, "The parameter %s of %s is required: %s", cmd.Params[i].Name, s.Name, cmd.Params[i].Doc)
	}
	for _, p := range cmd.Params {
		if p.Or != "" && (given[p.Name] == nil) == (given[p.Or] == nil) && len(c.problems) == before {
			c.problemf(n, "%s takes either %s or %s.", s.Name, p.Name, p.Or)
		}
	}
	return a
}

// once reads whether a step is done once, and returns what identifies it.
func (c *checker) once(s *Step, params, n *node) string {
	once, ok := n.data.(bool)
	if !ok {
		c.problemf(n, "once must be true or false.")
	}
	if once {
		return c.identity(s, params)
	}
	return ""
}

// identity returns what identifies a step beside its place: an id is enough.
func (c *checker) identity(s *Step, params *node) string {
	text, err := value.Marshal(params.value())
	if s.ID != "" || err != nil {
		return "id"
	}
	return string(text)
}

// blocks are the names of steps that are no commands.
var blocks = []string{"if", "foreach"}

func (c *checker) noCommand(n *node, name string) {
	hint, beginning := sluice.OpenAPIPath+" lists those there are.", ""
	for _, known := range c.commands.Names() {
		if strings.HasPrefix(name, known) { // setvalue: 3 in place of set: {value: 3}
			beginning = known
		}
	}
	if near := cmp.Or(c.commands.Nearest(name), spelling.Nearest(name, blocks), beginning); near != "" {
		hint = "did you mean " + near + "?"
	}
	c.problemf(n, "There is no command %s; %s", sluice.Quote(name), hint)
}

// argument reads a parameter of the command.
func (c *checker) argument(a *Invocation, key, item *node, given map[string]*node) {
	beside := append(ofSteps[:], "input", "output")
	if a.Command.Outside() {
		beside = append(beside, "once")
	}
	p, err := a.Command.Param(key.text, beside...)
	if err != nil {
		c.note(sluice.AsError(err), key.line, key.column)
		return
	}
	if other := given[p.Name]; other != nil {
		if other.text != key.text { // the same key twice is noted elsewhere
			c.problemf(key, "%s and %s are names of the same parameter; leave one out.", other.text, key.text)
		}
		return
	}
	v := c.value(item)
	nullable := p.Type == ""
	if v.shape == constant && v.data == nil && !nullable {
		return // not given, or a mistake noted above
	}
	given[p.Name] = key
	literal := p.Literal != "" && v.isLiteral(p.Literal)
	if p.Literal != "" && !literal {
		c.problemf(item, "The parameter %s of %s must be written out in the source, without expressions.",
			strings.TrimSuffix(p.Name+"."+p.Literal, ".*"), a.Command.Name)
	}
	if v.shape == constant || literal {
		known, _ := v.Eval(nil)
		if _, err := p.Check(known); err != nil {
			c.note(sluice.AsError(err), item.line, item.column)
		}
	}
	a.Args = append(a.Args, Argument{p.Name, v, p.Fixed && v.shape != constant, nullable})
}

// target reads where an output goes.
func (c *checker) target(n *node) Target {
	s, _ := n.string()
	if s == "body" {
		return Target{}
	}
	section, name, _ := strings.Cut(s, ".")
	to := Target{Section(section), name}
	if to.Section == ToVars && validName.MatchString(name) || to.Section == ToHeaders && validID.MatchString(name) {
		return to
	}
	c.problemf(n, "output must be body, vars.<name> or headers.<name>.")
	return Target{}
}

// trigger reads the first step of a pipeline that events start.
func (c *checker) trigger(n *node, cmd command.Command, params *node) *Trigger {
	c.count++
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
	if p.Name == "where" {
		c.where(t, item)
		return
	}
	v := c.value(item)
	if v.shape != constant {
		c.problemf(item,
			"The parameter %s of %s can't be computed: it is needed before there is anything to compute it from.",
			p.Name, cmd.Name)
		return
	}
	if _, err := p.Check(v.data); err != nil {
		c.problemf(item, "%s", sluice.AsError(err).Message)
		return
	}
	if p.Name == "type" {
		c.types(t, item, v.data)
		return
	}
	pattern, _ := v.data.(string)
	if t.pattern != "" {
		c.problemf(key, "%s listens to one key, and there is one already; leave one out.", cmd.Name)
		return
	}
	if !sluice.ValidPattern(pattern) {
		c.problemf(item, "%s is no pattern of keys: a key is %s; * stands for one group, and # at the end for any "+
			"number of groups.", sluice.Quote(pattern), sluice.KeyRule)
		return
	}
	t.pattern = pattern
	if p.Name == "eventKey" {
		t.pattern = sluice.EventPrefix + pattern
	}
}

// maxTypes bounds the kinds of events that a trigger names.
const maxTypes = 100

// types reads the kinds of events that a pipeline listens to.
func (c *checker) types(t *Trigger, item *node, data any) {
	kinds, isList := data.([]any)
	if !isList {
		kinds = []any{data}
	}
	if len(kinds) == 0 || len(kinds) > maxTypes {
		c.problemf(item, "type must be one kind of events, or a list of at most %d.", maxTypes)
	}
	for _, kind := range kinds {
		pattern, _ := kind.(string)
		if pattern == "" || sluice.CheckType(pattern) != nil {
			c.problemf(item, "%s is no type: it must be %s.", sluice.Quote(pattern), sluice.TypeRule)
			return
		}
		t.Types = append(t.Types, pattern)
	}
}

// where reads the condition under which an event starts a pipeline.
func (c *checker) where(t *Trigger, item *node) {
	all := c.language
	c.language = all.OfBody()
	t.Where = c.expression(item, "where")
	if c.language = all; t.Where != nil && !t.Where.Varies {
		c.problemf(item, "where is the same for every event; compare a member of body, such as #{body.payload.ref == "+
			"\"refs/heads/main\"}, or leave it out.")
	}
}
