package pipeline

import (
	"errors"
	"fmt"
	"sluice/command"
	"time"
)

// A step is one step of a program: when it is done, what it does, and what
// happens if that fails.
type step struct {
	name    string // of its command or block
	id      string
	number  int // counted from 1, in the order of the source
	line    int
	column  int
	when    *template // nil: always
	onError policy
	action  action
}

// An action is what a step does: an *invocation, a *choice or a *loop.
type action interface{ isAction() }

func (*invocation) isAction() {}
func (*choice) isAction()     {}
func (*loop) isAction()       {}

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

// A choice is the action of the block if: one list of steps or another.
type choice struct {
	condition       *template
	then, otherwise []*step
}

// A loop is the action of the block foreach: its steps are done for each item
// of a list, which is a variable meanwhile. The body flows through all of them:
// after the loop it is what the last step has made of it.
type loop struct {
	in    sourceValue
	as    string
	steps []*step
}

// switchCommand is the step after which a run goes on as another user.
const switchCommand = "iam.run.as"

// A policy is what happens when a step fails.
type policy struct {
	retries int
	wait    time.Duration // before each retry
	ignore  bool
}

const (
	defaultStepRetries = 3
	maxStepRetries     = 20
	defaultStepWait    = time.Second
	maxStepWait        = 10 * time.Minute
)

// title returns the step as errors call it, with the line they are about: Step 3,
// http.request "fetch" (line 12).
func (s *step) title(line int) string {
	if s.id != "" {
		return fmt.Sprintf("Step %d, %s %q (line %d)", s.number, s.name, s.id, line)
	}
	return fmt.Sprintf("Step %d, %s (line %d)", s.number, s.name, line)
}

// label returns the step by its command, with its id if it has one.
func (s *step) label() string {
	if s.id == "" {
		return s.name
	}
	return s.name + " (" + s.id + ")"
}

// literal returns the text that the source has for an argument.
func (a *invocation) literal(name string) (text string, ok bool) {
	for _, arg := range a.args {
		if arg.name == name && arg.value.shape == constant {
			text, ok = arg.value.data.(string)
		}
	}
	return text, ok
}

// positionOf returns where in a step an error happened: at one of its templates, or
// at its beginning.
func (s *step) positionOf(err error) (line, column int) {
	if e, ok := errors.AsType[*templateError](err); ok {
		return e.at.line, e.at.column
	}
	return s.line, s.column
}
