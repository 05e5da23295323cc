package source

import (
	"iter"
	"slices"
)

// A Use is a template of a step, and what it sees.
type Use struct {
	Step     *Step
	Template *Template
	Event    bool // the body is still the event that started the run
}

// Uses returns the templates of all steps, in the order of the source.
func (p *Program) Uses() (found []Use) {
	if p.Trigger != nil && p.Trigger.Where != nil {
		found = append(found, Use{p.Trigger.Step(), p.Trigger.Where, true})
	}
	Follow(p.Steps, p.Trigger != nil, func(s *Step, event bool) bool {
		for _, t := range s.Templates() {
			found = append(found, Use{s, t, event})
		}
		a, calls := s.Action.(*Invocation)
		return event && (!calls || a.Writes() != "body")
	}, func(one, other bool) bool { return one && other })
	return found
}

// Templates returns the templates of a step, without those of the steps within it.
func (s *Step) Templates() (found []*Template) {
	if s.When != nil {
		found = append(found, s.When)
	}
	switch a := s.Action.(type) {
	case *Invocation:
		for i := range a.Args {
			found = append(found, a.Args[i].Value.templates()...)
		}
		found = append(found, a.Input.templates()...)
	case *Choice:
		found = append(found, a.Condition)
	case *Loop:
		found = append(found, a.In.templates()...)
	}
	return found
}

// Secrets returns the names of the secrets that a step asks for, as far as they are known.
func (s *Step) Secrets() (names []string) {
	for _, t := range s.Templates() {
		names = append(names, t.Secrets...)
	}
	if a, calls := s.Action.(*Invocation); calls && a.Command.Secrets != nil {
		names = append(names, a.Command.Secrets(a.Known())...)
	}
	return names
}

// Secrets returns the names of the secrets that a program asks for before its first step.
func (p *Program) Secrets() (names []string) {
	for _, field := range slices.Concat(p.Headers, p.Vars) {
		names = append(names, field.Value.Secrets()...)
	}
	return append(names, p.Body.Secrets()...)
}

// Follow visits steps in the order of the source, with what holds before each of them; visit says
// what holds behind a step itself. Where ways meet, join says what holds whichever was taken.
func Follow[S any](steps []*Step, state S, visit func(s *Step, before S) S, join func(one, other S) S) S {
	for _, s := range steps {
		behind := visit(s, state)
		switch a := s.Action.(type) {
		case *Choice:
			behind = join(Follow(a.Then, state, visit, join), Follow(a.Otherwise, state, visit, join))
		case *Loop:
			behind = join(state, Follow(a.Steps, state, visit, join))
		}
		if s.When != nil {
			behind = join(state, behind)
		}
		state = behind
	}
	return state
}

// Names returns the variables and headers that the program sets, as vars.<name> and
// headers.<name>.
func (p *Program) Names() map[string]bool {
	set := map[string]bool{}
	for _, f := range p.Vars {
		set[ToVars.Of(f.Name)] = true
	}
	for _, f := range p.Headers {
		set[ToHeaders.Of(f.Name)] = true
	}
	for s := range p.All() {
		if s.OnError.Ignore {
			set[ToVars.Of("error")] = true
		}
		switch a := s.Action.(type) {
		case *Invocation:
			set[a.Writes()] = true
		case *Loop:
			set[ToVars.Of(a.As)] = true
		}
	}
	return set
}

// All visits every step of the program, also those within blocks.
func (p *Program) All() iter.Seq[*Step] {
	return func(yield func(*Step) bool) { visit(p.Steps, yield) }
}

func visit(steps []*Step, yield func(*Step) bool) bool {
	for _, s := range steps {
		if !yield(s) {
			return false
		}
		goOn := true
		switch a := s.Action.(type) {
		case *Choice:
			goOn = visit(a.Then, yield) && visit(a.Otherwise, yield)
		case *Loop:
			goOn = visit(a.Steps, yield)
		}
		if !goOn {
			return false
		}
	}
	return true
}
