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
	source   text
	commands command.Set
	language *expression.Language
	problems []sluice.Finding
	step     string         // the current step, for messages
	count    int            // of steps that were read
	ids      map[string]int // lines of steps, by their ids
}

// Bounds of a program.
const (
	MaxNames   = 1000 // of variables, and of headers
	MaxRunTime = 15 * time.Minute
)

// A reader reads an option of that name, and notes what is wrong with it.
type reader func(n *node, name string)

// into returns a reader that stores what is read.
func into[T any](to *T, read func(n *node, name string) T) reader {
	return func(n *node, name string) { *to = read(n, name) }
}

func (c *checker) program(root *node) *Program {
	p := &Program{
		Concurrency: sluice.DefaultConcurrency, Retry: defaultRetry, Timeout: MaxRunTime, Commands: c.commands,
	}
	var scheduled *Trigger
	sections := map[string]reader{
		"description": c.text(&p.Description),
		"headers":     into(&p.Headers, c.headers),
		"vars":        into(&p.Vars, c.fields),
		"body":        func(n *node, _ string) { p.Body = new(c.value(n)) },
		"pipeline":    func(n *node, _ string) { p.Trigger, p.Steps = c.pipeline(n) },
		"schedule":    c.schedule(&scheduled),
		"concurrency": c.integer(&p.Concurrency, 1, sluice.MaxConcurrency),
		"retry":       into(&p.Retry, c.retry),
		"rate":        into(&p.Rate, c.rate),
		"debounce":    into(&p.Debounce, c.debounce),
		"order":       into(&p.Order, c.formula),
		"timeout":     c.duration(&p.Timeout, time.Millisecond, MaxRunTime),
		"tests":       into(&p.Tests, c.tests),
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
			section(n, key.text)
		}
	}
	if p.Order != nil && p.Concurrency == 1 {
		c.problemf(root.get("order"), "order stands beside concurrency: 1, which keeps all events in order; leave one "+
			"of them out.")
	}
	if p.Order != nil && p.Debounce != nil {
		c.problemf(root.get("debounce"), "debounce stands beside order; leave one of them out.")
	}
	if root.get("pipeline") == nil {
		c.problemf(root, "The section pipeline is missing: a list of steps.")
	}
	if scheduled != nil && p.Trigger != nil {
		c.problemf(&node{line: p.Trigger.Line, column: p.Trigger.Column},
			"The section schedule starts this pipeline; leave it or %s out.", p.Trigger.Command)
	}
	p.Trigger = cmp.Or(p.Trigger, scheduled)
	for _, name := range []string{"order", "debounce"} {
		if n := root.get(name); n != nil && !n.isNull() && p.Trigger == nil && len(c.problems) == 0 {
			c.problemf(n, "%s is about events, and none starts this pipeline: begin it with event.listen, or leave "+
				"%s out.", name, name)
		}
	}
	return p
}

// formula reads a text that is computed from the event, before a run begins.
func (c *checker) formula(n *node, name string) *Value {
	mistakes := len(c.problems)
	v := c.value(n)
	switch {
	case len(c.problems) > mistakes:
	case v.shape != formula:
		c.problemf(n, "%s must be computed from the event, such as '#{body.payload.id}', not %s.", name, n.describe())
	case len(v.Secrets()) > 0:
		c.problemf(n, "%s can't use secrets; compute it from the event.", name)
	default:
		for _, read := range v.template.Reads {
			if root, _, _ := strings.Cut(read, "."); slices.Contains([]string{"vars", "headers", "user"}, root) {
				c.problemf(n,
					"%s is computed before a run begins, when there is no %s; compute it from the event.", name, read)
			}
		}
	}
	return &v
}

// unknown notes an unknown name and suggests a known one.
func (c *checker) unknown(key *node, what string, names []string) {
	hint := spelling.Hint(key.text, names, "there are "+strings.Join(names, ", ")+".")
	c.problemf(key, "There is no %s %s; %s", what, sluice.Quote(key.text), hint)
}

// options reads an object whose keys are known.
func (c *checker) options(n *node, what string, known map[string]reader) {
	if n.kind != object {
		c.problemf(n, "%s must be an object with %s, not %s.", what,
			strings.Join(slices.Sorted(maps.Keys(known)), ", "), n.describe())
		return
	}
	for key, option := range n.entries() {
		if read := known[key.text]; read != nil {
			read(option, key.text)
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
func (c *checker) headers(n *node, name string) []Field {
	for key, item := range n.entries() {
		if _, isText := item.string(); !isText {
			c.problemf(item, "The header %s must be text, not %s; put it in quotes.", sluice.Quote(key.text),
				item.describe())
		}
	}
	return c.fields(n, name)
}

func (c *checker) textOf(n *node, name string) string {
	s, ok := n.string()
	if !ok {
		c.problemf(n, "%s must be text, not %s.", name, n.describe())
	}
	return s
}

func (c *checker) text(to *string) reader {
	return func(n *node, name string) { *to = c.textOf(n, name) }
}

func (c *checker) integer(to *int, least, most int) reader {
	return func(n *node, name string) {
		var ok bool
		if *to, ok = n.data.(int); !ok || *to < least || *to > most {
			c.problemf(n, "%s must be an integer from %d to %d.", name, least, most)
		}
	}
}

func (c *checker) duration(to *time.Duration, least, most time.Duration) reader {
	return func(n *node, name string) {
		s, _ := n.string()
		d, err := time.ParseDuration(s)
		if *to = d; err != nil || d < least || d > most {
			c.problemf(n, "%s must be a duration from %s to %s, such as 2s.", name, sluice.ShortDuration(least),
				sluice.ShortDuration(most))
		}
	}
}

// MaxProblems bounds the list of mistakes: nobody reads more at once.
const MaxProblems = 100

// ProblemsOf returns all mistakes behind an error of Parse, in order. Each has its
// position.
func ProblemsOf(err error) []sluice.Finding {
	problems, _ := sluice.AsError(err).Details.([]sluice.Finding)
	return problems
}

// joined returns the problems as one error: the first, how many more there are, and all of them as details.
func joined(p []sluice.Finding) error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b sluice.Finding) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	first := p[0]
	message := first.Message
	if first.Line > 0 {
		message = fmt.Sprintf("Line %d: %s", first.Line, message)
	}
	switch more := len(p) - 1; {
	case more == 1:
		message += " There is 1 more problem; pipeline.lint lists all."
	case more > 1:
		message += fmt.Sprintf(" There are %d more problems; pipeline.lint lists all.", more)
	}
	all := make([]error, len(p)) // for logs
	for i, f := range p {
		all[i] = fmt.Errorf("%d:%d: %s", f.Line, f.Column, f.Message)
	}
	return sluice.CodePipelineInvalid.Errorf("%s", message).Because(errors.Join(all...)).About(first.Parameter).
		Detailed(p).At(sluice.Position{
		Line: first.Line, Column: first.Column, Snippet: first.Snippet, Step: first.Step,
	})
}

// problemf notes a mistake at a node.
func (c *checker) problemf(at *node, format string, args ...any) {
	c.note(sluice.CodePipelineInvalid.Errorf(format, args...), at.line, at.column)
}

func (c *checker) note(e *sluice.Error, line, column int) {
	if len(c.problems) < MaxProblems {
		c.problems = append(c.problems, sluice.Finding{
			Line: line, Column: column, Snippet: c.source.snippet(line), Step: c.step,
			Code: string(sluice.CodePipelineInvalid), Parameter: e.Parameter, Message: e.Message,
		})
	}
}
