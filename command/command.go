// Package command is what a command is: a name, a summary, typed parameters
// and a function. Everything people, pipelines, the command line and the
// portal can do is a command, declared once; the HTTP endpoint, the permission
// name, the reference page and the OpenAPI entry come from that declaration.
//
// The commands themselves live in the packages they are about (webhook, iam,
// …); package api calls them over HTTP.
package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sluice"
	"sluice/spelling"
)

// A Command is one thing the service can do.
type Command struct {
	Name     string // dotted and lower case, such as webhook.put; also the permission
	Summary  string // one sentence
	Params   []Param
	Results  []reflect.Type // what it answers with: one of these
	ReadOnly bool           // changes nothing, so that GET may run it
	Pure     bool           // needs nothing but its arguments and its run, so tests of pipelines run it unchanged
	Traffic  bool           // moves data, as pipelines do constantly: the audit log has only refusals
	Recorded bool           // takes recordings in a rehearsal, see sluice.Run
	InRun    bool           // is a step of pipelines only: callers can't run it by itself
	Trigger  bool           // starts a pipeline: the first step or none
	Download bool           // answers with a Download
	Scoping  Scoping        // what it has to do with the scopes of roles

	// Endpoint, if set, handles the HTTP request itself, authentication
	// included; such a command can't be called in any other way.
	Endpoint Endpoint

	// Check, if set, says what is wrong with arguments that are known before a run; those
	// that a run computes are left out.
	Check func(known map[string]any) error

	run     func(context.Context, Args) (any, error)
	missing func(ctx context.Context, parameter, name string) error
}

// An Endpoint handles an HTTP request. It has written nothing if it returns an
// error.
type Endpoint func(http.ResponseWriter, *http.Request) error

// An Option says more about a command than its types do.
type Option func(*Command)

// ReadOnly declares that the command changes nothing.
func ReadOnly(c *Command) { c.ReadOnly = true }

// Pure declares that the command changes nothing and needs nothing but its
// arguments and the run it is a step of.
func Pure(c *Command) { c.ReadOnly, c.Pure, c.Scoping = true, true, NoNames }

// Traffic declares that the command moves data, as pipelines do constantly: the
// audit log has only refused calls.
func Traffic(c *Command) { c.Traffic = true }

// Recorded declares that the command reaches nothing outside in a rehearsal: it asks the
// run for recordings.
func Recorded(c *Command) { c.Recorded = true }

// InRun declares that the command is a step of pipelines only: a caller who
// runs it by itself is refused.
func InRun(c *Command) { c.InRun = true }

// Trigger declares that the command starts the pipeline whose first step it is.
func Trigger(c *Command) { c.ReadOnly, c.Pure, c.Trigger = true, true, true }

// Checks declares how arguments are checked that are known before a run.
func Checks(check func(known map[string]any) error) Option {
	return func(c *Command) { c.Check = check }
}

// Answers declares the types of a command's results, if its function's result type is
// not specific.
func Answers(samples ...any) Option {
	return func(c *Command) {
		c.Results = nil
		for _, s := range samples {
			c.Results = append(c.Results, reflect.TypeOf(s))
		}
	}
}

// New declares a command. The exported fields of the struct P are its
// parameters; see Param for the tags they carry. It panics on a declaration
// that can't work, since that is a mistake in the program.
func New[P, R any](name, summary string, run func(context.Context, P) (R, error), opts ...Option) Command {
	c := declare[P](name, summary)
	c.Results = []reflect.Type{reflect.TypeFor[R]()}
	c.Download = c.Results[0] == reflect.TypeFor[Download]()
	params := c.Params
	c.run = func(ctx context.Context, args Args) (any, error) {
		var p P
		if err := bind(reflect.ValueOf(&p).Elem(), params, args); err != nil {
			return nil, err
		}
		return run(ctx, p)
	}
	return c.with(opts)
}

// NewEndpoint declares a command that handles its HTTP requests itself. P
// only documents its parameters.
func NewEndpoint[P any](name, summary string, serve Endpoint, opts ...Option) Command {
	c := declare[P](name, summary)
	c.Endpoint = serve
	return c.with(opts)
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9]*(\.[a-z][A-Za-z0-9]*)*$`)

func declare[P any](name, summary string) Command {
	if !validName.MatchString(name) || summary == "" {
		panic(fmt.Sprintf("command %q needs a dotted lower-case name and a summary", name))
	}
	return Command{Name: name, Summary: summary, Params: paramsOf(name, reflect.TypeFor[P]())}
}

func (c Command) with(opts []Option) Command {
	for _, opt := range opts {
		opt(&c)
	}
	if err := c.checkNames(); err != nil {
		panic(fmt.Sprintf("command %s: %v", c.Name, err))
	}
	c.Scoping = c.scopingOf()
	return c
}

// A Download is the output of a command that is bytes rather than JSON. They are made
// while they are sent. Such a command is called over HTTP only.
type Download struct {
	ContentType string

	// Send writes the bytes. An error after the first of them cuts the connection, so
	// that nobody mistakes a part for the whole.
	Send func(ctx context.Context, to io.Writer) error
}

// HTTPOnly reports whether the command can be called over HTTP only: neither as a step
// of a pipeline nor in the portal.
func (c Command) HTTPOnly() bool { return c.Endpoint != nil || c.Download }

// Reference describes all commands as a page of Markdown.
func (s Set) Reference() string {
	var page strings.Builder
	page.WriteString("# Commands\n\n" +
		"Call a command with `POST " + sluice.CommandPath + "<name>`; its parameters go in the query, a form or a JSON object. " +
		"Commands that change nothing also take `GET`. A command's name is also the permission it needs.\n")
	for _, c := range s.commands {
		c.describe(&page)
	}
	return page.String()
}

func (c Command) describe(page *strings.Builder) {
	fmt.Fprintf(page, "\n## %s\n\n%s\n\n", c.Name, c.Summary)
	switch {
	case c.Endpoint != nil:
		page.WriteString("`GET` or `POST`, without header authentication.\n")
	case c.ReadOnly:
		page.WriteString("`GET` or `POST`.\n")
	default:
		page.WriteString("`POST`.\n")
	}
	if len(c.Params) == 0 {
		return
	}
	page.WriteString("\n| Parameter | Takes | Meaning |\n|---|---|---|\n")
	for _, p := range c.Params {
		name := "`" + p.Name + "`"
		if p.Alias != "" {
			name += " (also `" + p.Alias + "`)"
		}
		if p.Required {
			name += ", required"
		}
		switch p.Body {
		case BodyOnly:
			name += ", the body of the call"
		case bodyDefault:
			name += ", in a pipeline by default the body"
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", name, p.Wants(), p.Doc)
	}
}

// A Set is all the commands of a service, in the order of their names.
type Set struct {
	commands []Command
	audit    func(context.Context, sluice.AuditEntry)
	charge   func(ctx context.Context, name string, args Args) (release func(), err error) // nil: calls are free
	keyOf    func(ctx context.Context, token string) (eventKey string)                     // of the webhook with a token
}

// NewSet joins lists of commands. It panics if two commands share a name. audit
// is called with each entry for the audit log.
func NewSet(audit func(context.Context, sluice.AuditEntry), lists ...[]Command) Set {
	all := slices.Concat(lists...)
	slices.SortFunc(all, byName)
	for i := 1; i < len(all); i++ {
		if all[i].Name == all[i-1].Name {
			panic(fmt.Sprintf("command %q is declared twice", all[i].Name))
		}
	}
	return Set{commands: all, audit: audit, keyOf: func(context.Context, string) string { return "" }}
}

// Knowing returns the set with a function that finds the event key of the webhook with a
// token, "" if there is none.
func (s Set) Knowing(keyOf func(ctx context.Context, token string) (eventKey string)) Set {
	s.keyOf = keyOf
	return s
}

// Charging returns the set with a function that takes memory for each call outside a run,
// until release is called. A run pays for its steps itself.
func (s Set) Charging(charge func(ctx context.Context, name string, args Args) (release func(), err error)) Set {
	s.charge = charge
	return s
}

// All returns the commands in the order of their names.
func (s Set) All() []Command { return s.commands }

// Find returns the command of that name.
func (s Set) Find(name string) (Command, bool) {
	i, ok := slices.BinarySearchFunc(s.commands, Command{Name: name}, byName)
	if !ok {
		return Command{}, false
	}
	return s.commands[i], true
}

// Names returns the names of the commands in their order.
func (s Set) Names() []string {
	names := make([]string, len(s.commands))
	for i, c := range s.commands {
		names[i] = c.Name
	}
	return names
}

// Global returns the names of the commands that no scope can be about.
func (s Set) Global() (names []string) {
	for _, c := range s.commands {
		if c.Scoping == OfServer {
			names = append(names, c.Name)
		}
	}
	return names
}

// Nearest returns the name a caller may have meant, or "".
func (s Set) Nearest(name string) string { return spelling.Nearest(name, s.Names()) }

func byName(a, b Command) int { return strings.Compare(a.Name, b.Name) }

// A Page is part of a list. Over HTTP it is a plain array, with the way to the
// next page in a Link header.
type Page[T any] struct {
	Items []T
	Next  string // value of the parameter after for the next page; "" at the end
}

// Paged is any Page.
type Paged interface {
	// Page returns the items and the value of after for the next page.
	Page() (items any, next string)
}

// Page implements Paged.
func (p Page[T]) Page() (items any, next string) {
	if p.Items == nil {
		return []T{}, p.Next
	}
	return p.Items, p.Next
}

// PageOf returns a page of a list in the order of names: those with search in
// their name, in any case, that come after the given name; all of them if limit
// is 0. It reorders the list.
func PageOf[T any](list []T, name func(T) string, search, after string, limit int) Page[T] {
	search = strings.ToLower(search)
	list = slices.DeleteFunc(list, func(item T) bool {
		return after != "" && name(item) <= after || !strings.Contains(strings.ToLower(name(item)), search)
	})
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	if limit == 0 || len(list) <= limit {
		return Page[T]{Items: list}
	}
	return Page[T]{list[:limit], name(list[limit-1])}
}
