package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice"
	"sluice/spelling"
)

// A Set is all the commands of a service, in the order of their names.
type Set struct {
	commands []Command
	audit    func(context.Context, sluice.AuditEntry)
	charge   func(ctx context.Context, name string, args Args) (release func(), err error) // nil: calls are free
	// of the webhook with a token
	keyOf func(ctx context.Context, token string) (eventKey string)
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
