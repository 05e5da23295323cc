// Package source turns a text into a checked Program. Parse reads YAML or JSON and finds
// every mistake before anything runs. A Program is data: a tree of steps, where each step
// calls a command or is a block of steps, and the tests of the source.
//
// # Sources
//
// A source has the section pipeline, a list of steps, and may have description,
// headers, vars, body, schedule, concurrency, rate, retry, timeout and tests. A step is the
// name of a command, or one name: {parameters}. Besides those of its command every
// step has these parameters:
//
//	id       a name of its own
//	if       an expression; the step is skipped if it is false or null
//	input    the input of the command, instead of the body
//	output   where the output goes: body (default), vars.<name>, headers.<name>
//	onError  throw (default); ignore: go on with the body as it was before, and
//	         the error in vars.error; retry: {times, wait}
//
// The blocks if: {true, then, else} and foreach: {in, as, do} hold steps
// themselves and take id, if and onError.
//
// # Neighbours
//
// Package command says which commands there are and checks their parameters;
// package expression has the language within #{…}. Package pipeline/run runs
// programs. Package pipeline checks who may do what a program does.
package source

import (
	"cmp"
	"encoding/json"
	"regexp"
	"time"
	"unicode/utf8"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline/cron"
	"sluice/value"
)

// A Program is a source without mistakes. It may run many times at once.
type Program struct {
	Text        string // as it was written
	Description string
	Headers     []Field
	Vars        []Field
	Body        *Value
	Trigger     *Trigger
	Steps       []*Step
	Concurrency int
	Retry       Retry
	Rate        Pace
	Debounce    *Debounce     // nil: every event runs
	Order       *Value        // events with the same one run one after the other; nil: in any order
	Timeout     time.Duration // of one run
	Tests       []Case
	Commands    command.Set
}

// A Field is a variable or header with its initial value.
type Field struct {
	Name  string
	Value Value
}

// A Trigger is the first step of a pipeline that events start, which never runs: the body is
// the event already. Or it is the section schedule, whose events have the name of the pipeline.
type Trigger struct {
	Command  string
	pattern  string         // of message keys
	Schedule *cron.Schedule // in place of a pattern
	Types    []string       // of events, see sluice.HasType
	Where    *Template      // over the event; nil: it always holds
	Line     int
	Column   int
}

// Step returns the trigger as the step that stands in the source.
func (t *Trigger) Step() *Step {
	return &Step{Name: t.Command, Number: 1, Line: t.Line, Column: t.Column}
}

// Wants reports whether an event starts the pipeline: it is of a kind that the trigger names, and
// where holds. The scope has what that may take.
func (t *Trigger) Wants(event map[string]any, scope expression.Scope) (bool, error) {
	kind, _ := event["type"].(string)
	if fits := sluice.HasType(t.Types, kind); !fits || t.Where == nil {
		return fits, nil
	}
	scope.Body = event
	condition, err := t.Where.Eval(&scope)
	return condition != nil && condition != false, err
}

// Parse turns a source into a program. Its error is an *sluice.Error about the first
// mistake; ProblemsOf returns all of them.
func Parse(source string, set command.Set, lang *expression.Language) (*Program, error) {
	c := &checker{source: text(source), commands: set, language: lang, ids: map[string]int{}}
	root := c.read(source)
	var p *Program
	if root != nil {
		p = c.program(root)
	}
	if err := joined(c.problems); err != nil {
		return nil, err
	}
	p.Text = source
	return p, nil
}

// Listens returns the pattern of the message keys that start the program as the pipeline of
// a name.
func (p *Program) Listens(name string) (pattern string, ok bool) {
	switch {
	case p.Trigger == nil:
		return "", false
	case p.Trigger.Schedule != nil:
		return sluice.EventPrefix + sluice.SchedulePrefix + cmp.Or(name, "#"), true
	}
	return p.Trigger.pattern, true
}

// schedule reads the section of that name. Its events are heard as those of event.listen.
func (c *checker) schedule(to **Trigger) reader {
	return func(n *node, section string) {
		var text, zone string
		before := len(c.problems)
		c.options(n, section, map[string]reader{"cron": c.text(&text), "zone": c.text(&zone)})
		location, err := time.LoadLocation(zone)
		if err != nil || zone == "Local" {
			c.problemf(n.get("zone"), "There is no zone %s; write one such as Europe/Berlin.", sluice.Quote(zone))
			return
		}
		times, err := cron.Parse(text, location)
		if err != nil && len(c.problems) == before {
			c.problemf(cmp.Or(n.get("cron"), n), "cron must be a schedule such as '*/15 6-20 * * 1-5': %v.", err)
		}
		*to = &Trigger{Command: "event.listen", Schedule: times, Line: n.line, Column: n.column}
	}
}

// Bounds of a source, and so of everything in it.
const (
	MaxSource = 256 << 10 // bytes
	maxSteps  = 1000      // steps written down
)

// read returns the document of a source, nil if it can't be read.
func (c *checker) read(source string) *node {
	start := &node{line: 1, column: 1}
	switch {
	case len(source) > MaxSource:
		c.problemf(start, "The source has %d bytes, at most %d are allowed; split it into pipelines that run each "+
			"other with pipeline.run.", len(source), MaxSource)
		return nil
	case !utf8.ValidString(source):
		c.problemf(start, "The source must be text in UTF-8.")
		return nil
	case json.Valid([]byte(source)):
		return c.readJSON(source)
	}
	return c.readYAML(source)
}

// looksLikeJSON reports whether a broken source was meant to be JSON.
var looksLikeJSON = regexp.MustCompile(`^\s*\{\s*["}]`)

// enter checks that a list or object is not nested too deep.
func (c *checker) enter(at *node, depth int) bool {
	if depth > value.MaxDepth {
		c.problemf(at, "This is nested more than %d levels deep.", value.MaxDepth)
	}
	return depth <= value.MaxDepth
}

// addKey adds a key to an object, and notes one that the object has already.
func (c *checker) addKey(n, key *node, seen map[string]bool) {
	if seen[key.text] {
		c.problemf(key, "The key %s stands here twice; leave one out.", sluice.Quote(key.text))
	}
	seen[key.text] = true
	n.keys = append(n.keys, key)
}

// Defaults and bounds of deliveries.
const (
	maxRetries        = 100
	defaultBackoff    = time.Second
	leastBackoff      = 10 * time.Millisecond
	defaultMaxBackoff = time.Hour
	longestBackoff    = 24 * time.Hour
	defaultWithin     = 72 * time.Hour
	longestWithin     = 7 * 24 * time.Hour
)

// A Retry says how a failed run is retried.
type Retry struct {
	Times      int           // after the first attempt
	Backoff    time.Duration // before the first retry; it doubles
	MaxBackoff time.Duration
	Within     time.Duration // of the first attempt
	Given      bool          // the source says how
	Stays      bool          // an event does not follow when its target is back
}

var defaultRetry = Retry{Backoff: defaultBackoff, MaxBackoff: defaultMaxBackoff, Within: defaultWithin}

func (c *checker) retry(n *node, name string) Retry {
	r := defaultRetry
	r.Given = true
	c.options(n, name, map[string]reader{
		"times":      c.integer(&r.Times, 0, maxRetries),
		"backoff":    c.duration(&r.Backoff, leastBackoff, longestBackoff),
		"maxBackoff": c.duration(&r.MaxBackoff, leastBackoff, longestBackoff),
		"within":     c.duration(&r.Within, time.Second, longestWithin),
		"recover": func(n *node, name string) {
			follows, ok := n.data.(bool)
			if r.Stays = !follows; !ok {
				c.problemf(n, "%s must be true or false.", name)
			}
		},
	})
	return r
}

// Known returns the arguments that are the same in every run.
func (a *Invocation) Known() map[string]any {
	known := make(map[string]any, len(a.Args))
	for _, arg := range a.Args {
		if arg.Value.shape == constant {
			known[arg.Name] = arg.Value.data
		}
	}
	return known
}
