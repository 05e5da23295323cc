package command

import (
	"context"
	"fmt"
	"strings"

	"sluice"
)

// Scoping says what a command has to do with the scopes of roles.
type Scoping string

// Every command is declared as one of these, or by the tag names of its parameters.
const (
	ByName     Scoping = "by name"  // the tag names says which things a call is about
	WithinList Scoping = "listed"   // it shows what is covered
	NoNames    Scoping = "nameless" // it is about nothing that has a name in a scope
	OfServer   Scoping = "global"   // no scope can be about it, so that no role with a scope allows it
)

// What the tag names of a parameter says; see Param.
const (
	namesEvent    = "event"
	namesMessage  = "message"
	namesPipeline = "pipeline"
	namesQueue    = "queue"
	namesSecret   = "secret"
	namesWebhook  = "webhook" // by its token
	namesListed   = "listed"
	namesNew      = "new "
)

// checkNames finds mistakes in the declaration of what parameters name.
func (c Command) checkNames() error {
	for _, p := range c.Params {
		switch kind, isNew := strings.CutPrefix(p.Names, namesNew); kind {
		case "":
			continue
		case namesEvent, namesMessage, namesPipeline, namesQueue, namesSecret, namesWebhook:
			if !isNew && c.missing == nil {
				return fmt.Errorf("the parameter %s names a thing, and nothing says what is answered if it is missing",
					p.Name)
			}
		case namesListed:
		default:
			return fmt.Errorf("the parameter %s has the unknown tag names:%q", p.Name, p.Names)
		}
		if c.Scoping != "" {
			return fmt.Errorf("the parameter %s names a thing, and the command is declared as %s", p.Name, c.Scoping)
		}
	}
	return nil
}

// covered refuses arguments that name what is not covered.
func (s Set) covered(ctx context.Context, c Command, args Args, cover sluice.Cover) error {
	for _, p := range c.Params {
		for _, arg := range args {
			if p.Names == "" || p.Names == namesListed || !p.answersTo(arg.Name) {
				continue
			}
			name, err := p.parse(arg.Value)
			text, isText := name.(string)
			if err != nil || !isText || text == "" {
				continue // the command answers it
			}
			kind, isNew := strings.CutPrefix(p.Names, namesNew)
			switch has := s.covers(ctx, cover, kind, text); {
			case has:
			case isNew:
				return sluice.NotCovered(c.Name, text).About(p.Name)
			default:
				return c.missing(ctx, p.Name, text)
			}
		}
	}
	return nil
}

func (s Set) covers(ctx context.Context, cover sluice.Cover, kind, name string) bool {
	switch kind {
	case namesEvent:
		return cover.Event(name)
	case namesMessage:
		return cover.Message(name)
	case namesWebhook:
		key := s.keyOf(ctx, name)
		return key == "" || cover.Event(key)
	}
	return cover.Name(name)
}
