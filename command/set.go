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
	return Set{all, audit}
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

// Nearest returns the name a caller may have meant, or "".
func (s Set) Nearest(name string) string { return spelling.Nearest(name, s.Names()) }

func byName(a, b Command) int { return strings.Compare(a.Name, b.Name) }
