package pipeline

import (
	"context"
	"slices"

	"sluice"
	"sluice/pipeline/source"
)

type putParams struct {
	Name   string `json:"name" required:"true" audit:"yes" names:"new pipeline" doc:"Name of the pipeline: 1 to 128 lower-case letters, digits, dots, _ and -, beginning with a letter or digit."`
	Source string `json:"source" required:"true" body:"only" doc:"The pipeline as YAML or JSON."`
	Force  bool   `json:"force" doc:"Store it although steps would be refused when it runs; the warnings of the answer say which."`

	IfMatch string `json:"ifMatch" doc:"The etag that pipeline.get showed: it is refused with 412 changed-meanwhile if the pipeline was changed or deleted since. Over HTTP the header If-Match of PUT says the same."`
}

// put checks and stores a pipeline. The caller owns it from then on.
func (r *Runner) put(ctx context.Context, p putParams) (view sluice.PipelineView, err error) {
	if err = checkName(p.Name); err != nil {
		return view, err
	}
	program, err := r.parse(ctx, p.Source)
	if err != nil {
		return view, err
	}
	user := sluice.UserFrom(ctx)
	if err = mayListen(program, p.Name, user); err != nil {
		return view, err
	}
	warnings, err := r.checkPut(ctx, program, p, user)
	if err != nil {
		return view, err
	}
	record := sluice.Pipeline{Name: p.Name, Source: p.Source, Owner: user.Name, OwnerID: user.ID, Roles: user.Roles}
	saved, rebound, err := r.save(ctx, program, record, p.IfMatch)
	if err != nil {
		return view, err
	}
	if rebound {
		warnings = append(warnings, sluice.Finding{
			Code: string(sluice.CodeListensAnew),
			Message: "It listens anew: events that still waited for the pipeline as it was are not run. Replay them " +
				"where that matters.",
		})
	}
	view = r.show(saved)
	view.Warnings = warnings
	return view, nil
}

// checkPut rejects a program that lacks rights, unless the caller forces it, and returns
// warnings for the author.
func (r *Runner) checkPut(
	ctx context.Context, program *source.Program, p putParams, user sluice.User,
) (warnings []sluice.Finding, err error) {
	before, err := r.Store.Get(ctx, p.Name)
	if err == nil {
		err = checkMatch(p.IfMatch, before, p.Name)
	}
	if err != nil {
		return nil, err
	}
	found, err := r.refusals(ctx, program, user)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 && !p.Force {
		return nil, notPermitted(found)
	}
	lent, err := r.lentRights(ctx, program, before, user, found)
	return slices.Concat(found, lent, r.unknownKey(ctx, program), r.traps(ctx, program)), err
}
