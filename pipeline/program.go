package pipeline

import (
	"time"

	"sluice/command"
	"sluice/expression"
)

// A Program is a source without mistakes, ready to run any number of times at
// once.
type Program struct {
	description string
	headers     []field
	vars        []field
	body        *sourceValue
	trigger     *trigger
	steps       []*step
	concurrency int
	retry       Retry
	rate        pace
	timeout     time.Duration // of one run
	tests       []testCase
	commands    command.Set
}

// A field is a variable or header of a source, with the value it starts with.
type field struct {
	name  string
	value sourceValue
}

// A trigger is the first step of a pipeline that events start. It is not run:
// the event is the body already.
type trigger struct {
	command string
	pattern string // of message keys
	line    int
	column  int
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
	if p.trigger == nil {
		return "", false
	}
	return p.trigger.pattern, true
}
