package source

import (
	"time"

	"sluice/command"
	"sluice/expression"
)

// A Program is a source without mistakes, ready to run any number of times at
// once.
type Program struct {
	Description string
	Headers     []Field
	Vars        []Field
	Body        *Value
	Trigger     *Trigger
	Steps       []*Step
	Concurrency int
	Retry       Retry
	Rate        Pace
	Timeout     time.Duration // of one run
	Tests       []Case
	Commands    command.Set
}

// A Field is a variable or header of a source, with the value it starts with.
type Field struct {
	Name  string
	Value Value
}

// A Trigger is the first step of a pipeline that events start. It is not run:
// the event is the body already.
type Trigger struct {
	Command string
	pattern string // of message keys
	Line    int
	Column  int
}

// Parse makes a program of a source. Its error is an *sluice.Error about the
// first mistake; ProblemsOf returns all of them.
func Parse(source string, set command.Set, lang *expression.Language) (*Program, error) {
	c := &checker{text: textOf(source), commands: set, language: lang, ids: make(map[string]int)}
	root := c.read(source)
	var p *Program
	if root != nil {
		p = c.program(root)
	}
	if err := c.problems.joined(); err != nil {
		return nil, err
	}
	return p, nil
}

// Listens returns the pattern of the message keys that start the pipeline.
func (p *Program) Listens() (pattern string, ok bool) {
	if p.Trigger == nil {
		return "", false
	}
	return p.Trigger.pattern, true
}
