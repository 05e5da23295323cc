package command

import (
	"cmp"
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
