package command

import (
	"context"
	"reflect"
	"slices"
)

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

// Waits declares that the run of the step may leave its place until somebody answers.
func Waits(c *Command) { c.InRun, c.Waits = true, true }

// Trigger declares that the command starts the pipeline whose first step it is.
func Trigger(c *Command) { c.ReadOnly, c.Pure, c.Trigger = true, true, true }

// Checks declares how arguments are checked that are known before a run.
func Checks(check func(known map[string]any) error) Option {
	return func(c *Command) { c.Check = check }
}

// Valid declares how the value of a parameter is checked wherever it is known: valid says what is
// wrong with it.
func Valid(parameter string, valid func(value any) error) Option {
	return func(c *Command) {
		i := slices.IndexFunc(c.Params, func(p Param) bool { return p.Name == parameter })
		c.Params[i].valid = valid
	}
}

// Secrets declares which secrets a step uses by name, as far as its arguments are known.
func Secrets(names func(known map[string]any) []string) Option {
	return func(c *Command) { c.Secrets = names }
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

// Lists declares that the command changes nothing, and answers with a page of views, or with one
// view.
func Lists[V any](c *Command) {
	c.ReadOnly, c.Listing = true, true
	OneOrAll[V](c)
}

// OneOrAll declares that the command answers with a list of views, or with one view.
func OneOrAll[V any](c *Command) {
	c.Results = []reflect.Type{reflect.TypeFor[[]V](), reflect.TypeFor[V]()}
}

// Missing declares what is answered if a parameter names a thing that is not there: a
// thing that is not covered is answered like it.
func Missing(missing func(ctx context.Context, parameter, name string) error) Option {
	return func(c *Command) { c.missing = missing }
}

// Listed declares that a command without names shows only what sluice.CoverFrom covers.
func Listed(c *Command) { c.Scoping = WithinList }

// Nameless declares that a command is about nothing that scopes are about.
func Nameless(c *Command) { c.Scoping = NoNames }

// Global declares that a command is about users, roles, clients, keys, the audit log or
// the server.
func Global(c *Command) { c.Scoping = OfServer }
