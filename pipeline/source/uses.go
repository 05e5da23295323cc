package source

import "iter"

// A Use is a template of a step, and what it sees.
type Use struct {
	Step     *Step
	Template *Template
	Event    bool // the body is still the event that started the run
}

// Uses returns the templates of all steps, in the order of the source.
func (p *Program) Uses() []Use {
	w := &uses{}
	w.list(p.Steps, p.Trigger != nil)
	return w.found
}

type uses struct{ found []Use }

// passing are commands that leave the body as it is.
var passing = map[string]bool{"log": true, "assert": true, "exit": true, "fail": true, "wait": true, SwitchCommand: true, "iam.authorize": true}

// list visits steps and returns whether the body is the event after them.
func (w *uses) list(steps []*Step, event bool) bool {
	for _, s := range steps {
		w.add(s, event, s.When)
		event = w.step(s, event) && event
	}
	return event
}

func (w *uses) step(s *Step, event bool) bool {
	switch a := s.Action.(type) {
	case *Invocation:
		for i := range a.Args {
			w.add(s, event, a.Args[i].Value.templates()...)
		}
		w.add(s, event, a.Input.templates()...)
		return a.Output.Section != ToBody || passing[a.Command.Name]
	case *Choice:
		w.add(s, event, a.Condition)
		then, otherwise := w.list(a.Then, event), w.list(a.Otherwise, event)
		return then && otherwise
	case *Loop:
		w.add(s, event, a.In.templates()...)
		return w.list(a.Steps, event)
	}
	return true
}

func (w *uses) add(s *Step, event bool, templates ...*Template) {
	for _, t := range templates {
		if t != nil {
			w.found = append(w.found, Use{s, t, event})
		}
	}
}

// Names returns the variables and headers that the program sets, as vars.<name> and
// headers.<name>.
func (p *Program) Names() map[string]bool {
	set := map[string]bool{}
	for _, f := range p.Vars {
		set["vars."+f.Name] = true
	}
	for _, f := range p.Headers {
		set["headers."+f.Name] = true
	}
	for s := range p.All() {
		switch a := s.Action.(type) {
		case *Invocation:
			switch a.Output.Section {
			case ToVars:
				set["vars."+a.Output.Name] = true
			case ToHeaders:
				set["headers."+a.Output.Name] = true
			}
		case *Loop:
			set["vars."+a.As] = true
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
