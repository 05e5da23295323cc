package source

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"sluice/command"
)

// A Step is one step of a program: its condition, its action, and its error policy.
type Step struct {
	Name    string // of its command or block
	ID      string
	Number  int // counted from 1, in the order of the source
	Line    int
	Column  int
	When    *Template // nil: always
	OnError Policy
	Action  Action
}

// An Action is what a step does: an *Invocation, a *Choice or a *Loop.
type Action any

// An Invocation is the action of a step that calls a command.
type Invocation struct {
	Command command.Command
	Args    []Argument
	Body    string // the parameter that gets the input; "" if none does
	Input   *Value // nil: the body
	Output  Target
	Once    string // what is the same as long as it counts as the same step; "": it is done in each attempt
}

// An Argument is a parameter that a step gives its command.
type Argument struct {
	Name     string
	Value    Value
	Fixed    bool // must not be computed in a run that an event started
	Nullable bool // null counts as a value
}

// A Target is where the output of a step goes.
type Target struct {
	Section Section
	Name    string // of a variable or header
}

// A Section is a part of the scope that steps write to.
type Section string

// The sections.
const (
	ToBody    Section = ""
	ToVars    Section = "vars"
	ToHeaders Section = "headers"
)

// Of returns the path of a variable or header.
func (s Section) Of(name string) string { return string(s) + "." + name }

// A Choice is the action of the block if: one list of steps or another.
type Choice struct {
	Condition       *Template
	Then, Otherwise []*Step
}

// A Loop is the action of the block foreach: its steps run for each item of a list, and
// the item is a variable meanwhile. The body flows through all rounds.
type Loop struct {
	In    Value
	As    string
	Steps []*Step
}

// SwitchCommand is the command that makes a run go on as another user.
const SwitchCommand = "iam.run.as"

// A Policy is what happens when a step fails.
type Policy struct {
	Retries int
	Wait    time.Duration // before each retry
	Ignore  bool
}

const (
	defaultStepRetries = 3
	maxStepRetries     = 20
	defaultStepWait    = time.Second
	maxStepWait        = 10 * time.Minute
)

// Title returns the step as errors name it: Step 3, http.request "fetch" (line 12).
func (s *Step) Title(line int) string {
	name := s.Name
	if s.ID != "" {
		name += " " + strconv.Quote(s.ID)
	}
	return fmt.Sprintf("Step %d, %s (line %d)", s.Number, name, line)
}

// Label returns the command of a step, with the id if it has one.
func (s *Step) Label() string {
	if s.ID == "" {
		return s.Name
	}
	return s.Name + " (" + s.ID + ")"
}

// Literal returns an argument that is literal text in the source.
func (a *Invocation) Literal(name string) (text string, ok bool) {
	for _, arg := range a.Args {
		if arg.Name == name && arg.Value.shape == constant {
			text, ok = arg.Value.data.(string)
		}
	}
	return text, ok
}

// passing are commands that leave the body as it is.
var passing = map[string]bool{
	"log": true, "assert": true, "exit": true, "fail": true, "wait": true, SwitchCommand: true, "iam.authorize": true,
}

// Writes returns where the output of the step goes: body, vars.<name> or headers.<name>; "" if
// it goes nowhere.
func (a *Invocation) Writes() string {
	switch {
	case a.Output.Section != ToBody:
		return a.Output.Section.Of(a.Output.Name)
	case passing[a.Command.Name]:
		return ""
	}
	return "body"
}

// PositionOf returns where in a step an error happened: at one of its templates, or at
// the start of the step.
func (s *Step) PositionOf(err error) (line, column int) {
	if e, ok := errors.AsType[*templateError](err); ok {
		return e.at.line, e.at.column
	}
	return s.Line, s.Column
}
