package pipeline

import (
	"context"
	"errors"

	"sluice"
	"sluice/pipeline/source"
)

// bind makes the binding that a program needs. It returns nil if the program needs none,
// or has one that fits.
func (r *Runner) bind(ctx context.Context, p *source.Program, before *sluice.Pipeline) (*sluice.Binding, error) {
	pattern, listens := p.Listens()
	if !listens || before != nil && fits(p, before.Binding) {
		return nil, nil
	}
	fresh, err := r.Queue.Bind(ctx, pattern, p.Concurrency)
	if err == nil {
		fresh.Rate = p.Rate.PerSecond
	}
	return fresh, err
}

// fits reports whether a binding takes the events that a program listens to. Its
// concurrency and rate can change.
func fits(p *source.Program, b *sluice.Binding) bool {
	pattern, listens := p.Listens()
	return listens && b != nil && b.Pattern == pattern
}

// unbind ends a binding, if there is one. It only logs a failure, since the change is
// already made.
func (r *Runner) unbind(ctx context.Context, pipeline string, b *sluice.Binding) {
	if b == nil {
		return
	}
	if err := r.Queue.Unbind(context.WithoutCancel(ctx), b); err != nil {
		r.stranded(pipeline, b, err)
	}
}

// unbindUnused ends a binding after a failed change. The change may have been stored all
// the same, so it asks the store first: a pipeline without its binding never gets events.
func (r *Runner) unbindUnused(ctx context.Context, pipeline string, b *sluice.Binding) {
	if b == nil {
		return
	}
	errLooked := errors.New("looked only")
	used := false
	_, err := r.Store.Change(context.WithoutCancel(ctx), pipeline,
		func(stored *sluice.Pipeline, _ map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
			used = stored != nil && sameBinding(stored.Binding, b)
			return nil, errLooked
		})
	switch {
	case !errors.Is(err, errLooked):
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
