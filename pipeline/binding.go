package pipeline

import (
	"context"

	"sluice"
	"sluice/pipeline/source"
)

// bind makes the binding that a program needs. It returns nil if the program needs none,
// or has one that fits.
func (r *Runner) bind(
	ctx context.Context, p *source.Program, name string, before *sluice.Pipeline,
) (*sluice.Binding, error) {
	pattern, listens := p.Listens(name)
	if !listens || before != nil && fits(p, before) {
		return nil, nil
	}
	if !sluice.ValidPattern(pattern) {
		return nil, sluice.InvalidParameter("name", "The name of a pipeline with a schedule is part of the key of its "+
			"events, so its dots must stand between other characters.")
	}
	fresh, err := r.Queue.Bind(ctx, pattern, p.Concurrency)
	if err == nil {
		adjust(fresh, p)
	}
	return fresh, err
}

// adjust gives a binding the settings of a program that listens.
func adjust(b *sluice.Binding, p *source.Program) {
	b.Concurrency, b.Rate, b.Placed = p.Concurrency, p.Rate.PerSecond, placed(p)
	b.Types, b.Where = p.Trigger.Types, p.Trigger.Where != nil
}

// fits reports whether the binding of a stored pipeline takes the events that a program for
// it listens to. Its other settings can change.
func fits(p *source.Program, stored *sluice.Pipeline) bool {
	pattern, listens := p.Listens(stored.Name)
	return listens && stored.Binding != nil && stored.Binding.Pattern == pattern
}

// unbind ends a binding, if there is one. It only logs a failure, since the change is
// already made.
func (r *Runner) unbind(ctx context.Context, pipeline string, b *sluice.Binding) {
	if b == nil {
		return
	}
	if err := r.Queue.Unbind(context.WithoutCancel(ctx), pipeline, b); err != nil {
		r.stranded(pipeline, b, err)
	}
}

// unbindUnused ends a binding after a failed change. The change may have been stored all
// the same, so it asks the store first: a pipeline without its binding never gets events.
func (r *Runner) unbindUnused(ctx context.Context, pipeline string, b *sluice.Binding) {
	if b == nil {
		return
	}
	used := false
	look := func(stored *sluice.Pipeline) (*sluice.Pipeline, error) {
		used = stored != nil && sameBinding(stored.Binding, b)
		return nil, sluice.ErrUnchanged
	}
	switch _, err := sluice.Replace(context.WithoutCancel(ctx), r.Store, pipeline, look); {
	case err != nil:
		r.stranded(pipeline, b, err)
	case !used:
		r.unbind(ctx, pipeline, b)
	}
}

func sameBinding(a, b *sluice.Binding) bool { return a != nil && b != nil && a.ID == b.ID }

// stranded logs a binding that may hold events for no pipeline.
func (r *Runner) stranded(pipeline string, b *sluice.Binding, err error) {
	r.Log.Error("A binding of a pipeline could not be ended.", "pipeline", pipeline, "binding", b.ID,
		"pattern", b.Pattern, "error", err.Error())
}
