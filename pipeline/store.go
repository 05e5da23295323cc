package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/pipeline/source"
)

// readOnly is the error for changing what the operator's folder holds.
func readOnly(name string) error {
	return sluice.Errorf(sluice.CodePipelineReadOnly, "The pipeline %s comes from the operator's folder; change or delete its file there (a server that is started with --pipelines follows), or take another name.", sluice.Quote(name))
}

// save stores a checked pipeline, if the stored one has one of the tags. A binding to
// the same events stays, with all events that wait for it. Otherwise the new binding
// starts before the old one ends. rebound reports whether waiting events were lost.
func (r *Runner) save(ctx context.Context, p *source.Program, record sluice.Pipeline, tags string) (saved *sluice.Pipeline, rebound bool, err error) {
	const attempts = 10
	if sluice.UserFrom(ctx).Bounded() {
		return nil, false, sluice.Errorf(sluice.CodeForbidden, "This run may do less than the user %s, to whom the pipeline would belong; so it can't store pipelines.", record.Owner)
	}
	for range attempts {
		saved, rebound, err = r.saveOnce(ctx, p, record, tags)
		if !sluice.CodePipelineChanged.Is(err) {
			break
		}
	}
	if err == nil {
		r.noteSwitches(ctx, p, record)
	}
	return saved, rebound, err
}

// saveOnce is one try of save. It fails if someone else changes the pipeline at the same
// moment.
func (r *Runner) saveOnce(ctx context.Context, p *source.Program, record sluice.Pipeline, tags string) (saved *sluice.Pipeline, rebound bool, err error) {
	before, err := r.Store.Get(ctx, record.Name)
	if err == nil {
		err = checkMatch(tags, before, record.Name)
	}
	if err == nil && before != nil && before.Folder == record.Folder && !sameVersion(before, &record) {
		err = r.keep(ctx, before)
	}
	if err != nil {
		return nil, false, err
	}
	fresh, err := r.bind(ctx, p, before)
	if err != nil {
		return nil, false, err
	}
	saved, old, err := r.store(ctx, p, change{record, before, tags}, fresh)
	if err != nil {
		r.unbindUnused(ctx, record.Name, fresh)
		r.unbindUnused(ctx, record.Name, old)
		return nil, false, err
	}
	if !sameBinding(saved.Binding, fresh) {
		r.unbind(ctx, record.Name, fresh)
	}
	r.unbind(ctx, record.Name, old)
	return saved, old != nil && fresh != nil, nil
}

// A change is the new state of a pipeline and the one it replaces.
type change struct {
	record sluice.Pipeline
	kept   *sluice.Pipeline // the version that the history has; nil: none
	tags   string           // see checkMatch
}

// sameVersion reports whether storing a record changes neither what a pipeline
// does nor who it belongs to.
func sameVersion(a, b *sluice.Pipeline) bool {
	return a.Source == b.Source && a.Owner == b.Owner && a.OwnerID == b.OwnerID && slices.Equal(a.Roles, b.Roles)
}

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

// store stores the record, and returns the binding that is no longer needed.
func (r *Runner) store(ctx context.Context, p *source.Program, c change, fresh *sluice.Binding) (saved *sluice.Pipeline, old *sluice.Binding, err error) {
	saved, err = r.Store.Change(ctx, c.record.Name, func(before *sluice.Pipeline, _ map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
		old = nil
		next, err := c.next(before)
		if err != nil {
			return nil, err
		}
		next.Binding = fresh
		switch {
		case before != nil && fits(p, before.Binding):
			kept := *before.Binding
			kept.Concurrency, kept.Rate = p.Concurrency, p.Rate.PerSecond
			next.Binding = &kept
		case fresh == nil && p.Trigger != nil:
			return nil, changedMeanwhile()
		case before != nil:
			old = before.Binding
		}
		return next, nil
	})
	return saved, old, err
}

// next returns the record that replaces the one before, if it may.
func (c *change) next(before *sluice.Pipeline) (*sluice.Pipeline, error) {
	next := c.record
	next.Version, next.Updated = 1, time.Now().UTC()
	next.Created = next.Updated
	if err := checkMatch(c.tags, before, next.Name); before == nil || err != nil {
		return &next, err
	}
	if before.Folder != next.Folder {
		return nil, readOnly(next.Name)
	}
	next.Created, next.Paused = before.Created, before.Paused
	if sameVersion(before, &next) {
		next.Version, next.Updated = before.Version, before.Updated
		return &next, nil
	}
	if c.kept == nil || !c.kept.Created.Equal(before.Created) || c.kept.Version != before.Version {
		return nil, changedMeanwhile()
	}
	next.Version = versionOf(before) + 1
	return &next, nil
}

// changedMeanwhile is the error of one of two changes at the same time.
func changedMeanwhile() error {
	return sluice.Errorf(sluice.CodePipelineChanged, "Someone else changed the pipeline at the same moment; try again.")
}

// remove deletes a pipeline that has one of the tags. folder says whether the pipeline
// must be from the operator's folder.
func (r *Runner) remove(ctx context.Context, name string, folder bool, tags string) error {
	var old *sluice.Binding
	_, err := r.Store.Change(ctx, name, func(before *sluice.Pipeline, _ map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
		old = nil
		switch {
		case before == nil:
			return nil, unknownPipeline(name)
		case before.Folder != folder:
			return nil, readOnly(name)
		}
		if err := checkMatch(tags, before, name); err != nil {
			return nil, err
		}
		old = before.Binding
		return nil, nil
	})
	if err != nil {
		r.unbindUnused(ctx, name, old)
		return err
	}
	r.unbind(ctx, name, old)
	r.forget(ctx, name)
	return nil
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
	_, err := r.Store.Change(context.WithoutCancel(ctx), pipeline, func(stored *sluice.Pipeline, _ map[string]*sluice.Pipeline) (*sluice.Pipeline, error) {
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
	r.Log.Error("A binding of a pipeline could not be ended.", "pipeline", pipeline, "binding", b.ID, "pattern", b.Pattern, "error", err.Error())
}

// noteSwitches logs in the audit log that a stored pipeline switches users. The runs are
// not logged: they would flood the log.
func (r *Runner) noteSwitches(ctx context.Context, p *source.Program, record sluice.Pipeline) {
	users := switches(p)
	if len(users) == 0 {
		return
	}
	r.Note(ctx, sluice.AuditEntry{
		Username: record.Owner,
		Address:  sluice.UserFrom(ctx).Address,
		Command:  source.SwitchCommand,
		Target:   record.Name + " " + strings.Join(users, ","),
		Outcome:  sluice.AuditAllowed,
	})
}
