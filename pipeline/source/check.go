package source

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/spelling"
)

// A checker turns a source into a program and notes every mistake on its way.
// After a mistake it goes on as if the part were not there.
type checker struct {
	text     text
	commands command.Set
	language *expression.Language
	problems sourceErrors
	step     string         // the step we are in, for people
	steps    int            // that have been read
	ids      map[string]int // of steps, with their lines
}

const (
	// MaxNames is how many variables there are, and how many headers.
	MaxNames = 1000
	// MaxRunTime is the longest time-out of a run.
	MaxRunTime = 15 * time.Minute
)

// sections are what a source may have at its top.
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
	p := &Program{Concurrency: sluice.DefaultConcurrency, Retry: defaultRetry, Timeout: MaxRunTime, Commands: c.commands}
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

// unknown notes an unknown name, with the nearest known one.
func (c *checker) unknown(key *node, what string, names []string) {
	hint := "there are " + strings.Join(names, ", ") + "."
	if near := spelling.Nearest(key.text, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	c.problemf(key, "There is no %s %s; %s", what, Quote(key.text), hint)
}

// options reads an object whose keys are known.
func (c *checker) options(n *node, what string, known map[string]func(*node)) {
	if n.kind != object {
		c.problemf(n, "%s must be an object with %s, not %s.", what, strings.Join(slices.Sorted(maps.Keys(known)), ", "), n.describe())
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

// fields reads the variables or headers that a run starts with.
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

// headers reads headers, which are texts.
func (c *checker) headers(n *node) []Field {
	for key, item := range n.entries() {
		if _, isText := item.string(); !isText {
			c.problemf(item, "The header %s must be text, not %s; put it in quotes.", Quote(key.text), item.describe())
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

func (c *checker) duration(n *node, name string, least, most time.Duration) time.Duration {
	s, _ := n.string()
	d, err := time.ParseDuration(s)
	if err != nil || d < least || d > most {
		c.problemf(n, "%s must be a duration from %s to %s, such as 2s.", name, sluice.ShortDuration(least), sluice.ShortDuration(most))
	}
	return d
}

// Quote shows what an author wrote, shortened and without control characters.
func Quote(s string) string {
	const longest = 60
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return strconv.Quote(s)
}
