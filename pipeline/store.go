package pipeline

import (
	"context"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/pipeline/source"
)

// readOnly is the error for changing what the operator's folder holds.
func readOnly(name string) error {
	return sluice.CodePipelineReadOnly.Errorf("The pipeline %s comes from the operator's folder; change or "+
		"delete its file there (a server that is started with --pipelines follows), or take another name.",
		sluice.Quote(name))
}

// save stores a checked pipeline, if the stored one has one of the tags. A binding to
// the same events stays, with all events that wait for it. Otherwise the new binding
// starts before the old one ends. rebound reports whether waiting events were lost.
func (r *Runner) save(
	ctx context.Context, p *source.Program, record sluice.Pipeline, tags string,
) (saved *sluice.Pipeline, rebound bool, err error) {
	const attempts = 10
	if sluice.UserFrom(ctx).Bounded() {
		return nil, false,
			sluice.CodeForbidden.Errorf("This run may do less than the user %s, to whom the pipeline would "+
				"belong; so it can't store pipelines.", record.Owner)
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
func (r *Runner) saveOnce(
	ctx context.Context, p *source.Program, record sluice.Pipeline, tags string,
) (saved *sluice.Pipeline, rebound bool, err error) {
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
	fresh, err := r.bind(ctx, p, record.Name, before)
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

// store stores the record, and returns the binding that is no longer needed.
func (r *Runner) store(
	ctx context.Context, p *source.Program, c change, fresh *sluice.Binding,
) (saved *sluice.Pipeline, old *sluice.Binding, err error) {
	saved, err = sluice.Replace(ctx, r.Store, c.record.Name,
		func(before *sluice.Pipeline) (*sluice.Pipeline, error) {
			old = nil
			next, err := c.next(before)
			if err != nil {
				return nil, err
			}
			next.Binding = fresh
			switch {
			case before != nil && fits(p, before):
				kept := *before.Binding
				adjust(&kept, p)
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
	next.Created, next.Paused, next.Quiet = before.Created, before.Paused, before.Quiet
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
	return sluice.CodePipelineChanged.Errorf("Someone else changed the pipeline at the same moment; try again.")
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

// tagOf returns the entity tag of a pipeline's current version.
func tagOf(p *sluice.Pipeline) string { return sluice.EntityTag(versionOf(p), p.Updated) }

// checkMatch rejects a change if the pipeline has none of the tags that the caller gave.
func checkMatch(tags string, p *sluice.Pipeline, name string) error {
	if tags == "" {
		return nil
	}
	if p == nil {
		return sluice.CodeChangedMeanwhile.Errorf("There is no pipeline %s, or not any more, so none has the "+
			"tag that was given; leave ifMatch (over HTTP: If-Match) out to create it.", sluice.Quote(name)).
			About("ifMatch")
	}
	if sluice.TagMatches(tags, tagOf(p)) {
		return nil
	}
	return sluice.CodeChangedMeanwhile.Errorf("The pipeline %s was changed meanwhile: %s stored version %d "+
		"at %s. Read it again, and make your change to that.",
		sluice.Quote(name), p.Owner, versionOf(p), p.Updated.Format(time.RFC3339)).About("ifMatch")
}
