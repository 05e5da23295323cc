// Package command is what a command is: a name, a summary, typed parameters
// and a function. Everything people, pipelines, the command line and the
// portal can do is a command, declared once; the HTTP endpoint, the permission
// name, the reference page and the OpenAPI entry come from that declaration.
//
// The commands themselves live in the packages they are about (webhook, iam,
// …); package api calls them over HTTP.
package command

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A Command is one thing the service can do.
type Command struct {
	Name     string // dotted and lower case, such as webhook.put; also the permission
	Summary  string // one sentence
	Params   []Param
	Results  []reflect.Type // what it answers with: one of these
	ReadOnly bool           // changes nothing, so that GET may run it
	Listing  bool           // may answer with all things of a sort
	Pure     bool           // needs nothing but its arguments and its run, so tests of pipelines run it unchanged
	Traffic  bool           // moves data, as pipelines do constantly: the audit log has only refusals
	Recorded bool           // takes recordings in a rehearsal, see sluice.Run
	InRun    bool           // is a step of pipelines only: callers can't run it by itself
	Waits    bool           // its run may leave its place until it has an answer, see sluice.Waits
	Trigger  bool           // starts a pipeline: the first step or none
	Download bool           // answers with a Download
	Scoping  Scoping        // what it has to do with the scopes of roles

	// Endpoint, if set, handles the HTTP request itself, authentication
	// included; such a command can't be called in any other way.
	Endpoint Endpoint

	Told any // what callers without credentials are answered; nil: that they need some

	// Check, if set, finds mistakes in arguments that are known before a run. Computed ones are
	// left out.
	Check func(known map[string]any) error

	// Secrets, if set, returns the names of the secrets that a step uses, as far as its arguments
	// are known before a run.
	Secrets func(known map[string]any) []string

	run     func(context.Context, Args) (any, error)
	missing func(ctx context.Context, parameter, name string) error
}

// An Endpoint handles an HTTP request. It has written nothing if it returns an
// error.
type Endpoint func(http.ResponseWriter, *http.Request) error

// New declares a command. The exported fields of the struct P are its
// parameters; see Param for the tags they carry. It panics on a declaration
// that can't work, since that is a mistake in the program.
func New[P, R any](name, summary string, run func(context.Context, P) (R, error), opts ...Option) Command {
	c := declare[P](name, summary)
	answer := reflect.TypeFor[R]()
	if c.Download = answer == reflect.TypeFor[Download](); !c.Download {
		c.Results = []reflect.Type{answer}
	}
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
	if slices.ContainsFunc(c.Params, func(p Param) bool { return p.Names != "" }) {
		c.Scoping = ByName
	}
	return c
}

// Group returns the group of a command. Those without one direct a pipeline.
func (c Command) Group() string {
	group, _, grouped := strings.Cut(c.Name, ".")
	if !grouped {
		return "flow"
	}
	return group
}

// Outside reports whether a step of a pipeline with the command has an effect that another attempt
// would repeat.
func (c Command) Outside() bool { return c.Traffic && (c.Recorded || !c.InRun) }

// A Download is the output of a command that is bytes rather than JSON. They are made
// while they are sent. Such a command is called over HTTP only.
type Download struct {
	ContentType string

	// Send writes the bytes. An error after the first of them cuts the connection, so
	// that nobody mistakes a part for the whole.
	Send func(ctx context.Context, to *Output) error
}

// An Output is where the bytes of a download go.
type Output struct {
	io.Writer

	Begun bool // something was written
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.Begun = true
	return o.Writer.Write(p)
}

// HTTPOnly reports whether the command can be called over HTTP only: neither as a step
// of a pipeline nor in the portal.
func (c Command) HTTPOnly() bool { return c.Endpoint != nil || c.Download }
