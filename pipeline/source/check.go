package source

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/spelling"
)

// A checker turns a source into a program and notes every mistake on the way. After a
// mistake it goes on without the wrong part.
type checker struct {
	text     text
	commands command.Set
	language *expression.Language
	problems sourceErrors
	step     string         // the current step, for messages
	steps    int            // how many were read
	ids      map[string]int // lines of steps, by their ids
}

// Bounds of a program.
const (
	MaxNames   = 1000 // of variables, and of headers
	MaxRunTime = 15 * time.Minute
)

// sections has the readers of the top-level sections of a source.
var sections = map[string]func(*checker, *Program, *node){
	"description": func(c *checker, p *Program, n *node) { p.Description = c.textOf(n, "description") },
	"headers":     func(c *checker, p *Program, n *node) { p.Headers = c.headers(n) },
	"vars":        func(c *checker, p *Program, n *node) { p.Vars = c.fields(n, "vars") },
	"body":        func(c *checker, p *Program, n *node) { body := c.value(n); p.Body = &body },
	"pipeline":    func(c *checker, p *Program, n *node) { p.Trigger, p.Steps = c.pipeline(n) },
	"concurrency": func(c *checker, p *Program, n *node) {
		p.Concurrency = c.integer(n, "concurrency", 1, sluice.MaxConcurrency)
	},
	"retry": func(c *checker, p *Program, n *node) { c.retry(p, n) },
	"rate":  func(c *checker, p *Program, n *node) { p.Rate = c.rate(n) },
	"timeout": func(c *checker, p *Program, n *node) {
		p.Timeout = c.duration(n, "timeout", time.Millisecond, MaxRunTime)
	},
	"tests": func(c *checker, p *Program, n *node) { p.Tests = c.tests(n) },
}

func (c *checker) program(root *node) *Program {
	p := &Program{
		Concurrency: sluice.DefaultConcurrency, Retry: defaultRetry, Timeout: MaxRunTime, Commands: c.commands,
	}
	if root.kind != object {
		c.problemf(root, "A source is an object with the section pipeline, not %s.", root.describe())
		return nil
	}
	for key, n := range root.entries() {
		section, known := sections[key.text]
		switch {
		case !known:
			c.unknown(key, "section", slices.Sorted(maps.Keys(sections)))
		case !n.isNull() || key.text == "pipeline":
			section(c, p, n)
		}
	}
	if root.get("pipeline") == nil {
		c.problemf(root, "The section pipeline is missing: a list of steps.")
	}
	return p
}

// unknown notes an unknown name and suggests a known one.
func (c *checker) unknown(key *node, what string, names []string) {
	hint := spelling.Hint(key.text, names, "there are "+strings.Join(names, ", ")+".")
	c.problemf(key, "There is no %s %s; %s", what, sluice.Quote(key.text), hint)
}

// options reads an object whose keys are known.
func (c *checker) options(n *node, what string, known map[string]func(*node)) {
	if n.kind != object {
		c.problemf(n, "%s must be an object with %s, not %s.", what,
			strings.Join(slices.Sorted(maps.Keys(known)), ", "), n.describe())
		return
	}
	for key, option := range n.entries() {
		if read := known[key.text]; read != nil {
			read(option)
		} else {
			c.unknown(key, "key", slices.Sorted(maps.Keys(known)))
		}
	}
}

// fields reads the section vars or headers.
func (c *checker) fields(n *node, section string) []Field {
	if n.kind != object {
		c.problemf(n, "%s must be an object, not %s.", section, n.describe())
		return nil
	}
	if len(n.keys) > MaxNames {
		c.problemf(n, "%s has %d names, at most %d are allowed.", section, len(n.keys), MaxNames)
		return nil
	}
	fields := make([]Field, 0, len(n.keys))
	for key, item := range n.entries() {
		fields = append(fields, Field{key.text, c.value(item)})
	}
	return fields
}

// headers reads the section headers, whose values must be texts.
func (c *checker) headers(n *node) []Field {
	for key, item := range n.entries() {
		if _, isText := item.string(); !isText {
			c.problemf(item, "The header %s must be text, not %s; put it in quotes.", sluice.Quote(key.text),
				item.describe())
		}
	}
	return c.fields(n, "headers")
}

func (c *checker) textOf(n *node, name string) string {
	s, ok := n.string()
	if !ok {
		c.problemf(n, "%s must be text, not %s.", name, n.describe())
	}
	return s
}

func (c *checker) integer(n *node, name string, least, most int) int {
	number, ok := n.data.(int)
	if !ok || number < least || number > most {
		c.problemf(n, "%s must be an integer from %d to %d.", name, least, most)
	}
	return number
}

func (c *checker) boolean(n *node, name string) bool {
	is, ok := n.data.(bool)
	if !ok {
		c.problemf(n, "%s must be true or false.", name)
	}
	return is
}

func (c *checker) duration(n *node, name string, least, most time.Duration) time.Duration {
	s, _ := n.string()
	d, err := time.ParseDuration(s)
	if err != nil || d < least || d > most {
		c.problemf(n, "%s must be a duration from %s to %s, such as 2s.", name, sluice.ShortDuration(least),
			sluice.ShortDuration(most))
	}
	return d
}

// sourceErrors are all mistakes in a source, in order. Each has its position.
type sourceErrors []*sluice.Error

// MaxProblems bounds the list of mistakes: nobody reads more at once.
const MaxProblems = 100

// Error returns one line for each problem.
func (p sourceErrors) Error() string {
	lines := make([]string, len(p))
	for i, e := range p {
		lines[i] = fmt.Sprintf("%d:%d: %s", e.Position.Line, e.Position.Column, e.Message)
	}
	return strings.Join(lines, "\n")
}

// ProblemsOf returns all mistakes behind an error of Parse, in order. Each has its
// position.
func ProblemsOf(err error) []*sluice.Error {
	problems, _ := errors.AsType[sourceErrors](err)
	return problems
}

// joined returns the problems as one error: the first, and how many more there are.
func (p sourceErrors) joined() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b *sluice.Error) int {
		return cmp.Or(a.Position.Line-b.Position.Line, a.Position.Column-b.Position.Column)
	})
	first := p[0]
	message := first.Message
	if first.Position.Line > 0 {
		message = fmt.Sprintf("Line %d: %s", first.Position.Line, message)
	}
	switch more := len(p) - 1; {
	case more == 1:
		message += " There is 1 more problem; pipeline.lint lists all."
	case more > 1:
		message += fmt.Sprintf(" There are %d more problems; pipeline.lint lists all.", more)
	}
	return first.Saying(message).Because(p)
}

// problemf notes a mistake at a node.
func (c *checker) problemf(at *node, format string, args ...any) {
	c.note(sluice.Errorf(sluice.CodePipelineInvalid, format, args...), at.line, at.column)
}

func (c *checker) note(e *sluice.Error, line, column int) {
	if len(c.problems) < MaxProblems {
		c.problems = append(c.problems,
			e.At(sluice.Position{Line: line, Column: column, Snippet: c.text.snippet(line), Step: c.step}))
	}
}
