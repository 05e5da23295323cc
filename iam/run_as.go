package iam

import (
	"context"

	"sluice"
)

type runAsParams struct {
	Username string `json:"username" required:"true" fixed:"true" audit:"yes" doc:"Who the following steps run as. The pipeline's owner must be an administrator, or have the permission run.as:<username>. Where an event starts the run, the name must stand in the source: it can't be computed."`
	Body     any    `json:"body" body:"default" doc:"What is passed on."`
}

// switchUser switches a run to another user. Refusals are in the audit log, switches in the trace of
// the run.
func (d *Directory) switchUser(ctx context.Context, p runAsParams) (any, error) {
	run := sluice.RunFrom(ctx)
	var user sluice.User
	owner, err := run.Owner(ctx)
	if err == nil {
		user, err = d.runAs(ctx, owner, p.Username)
	} else if err = sluice.OwnerError(err); !sluice.Forbidden.Is(err) {
		return nil, err
	}
	if err != nil {
		d.noteRunAs(ctx, owner.Name, p.Username, err)
		return nil, err
	}
	user.Address = sluice.UserFrom(ctx).Address
	run.Switch(user)
	return p.Body, nil
}

// runAs returns the user that a pipeline switches to, if its owner may switch to that
// one: owners to themselves, administrators to anyone, others to users for whom they have
// the permission run.as:<username>. Only the present permissions of the owner count, not
// those of the user that the pipeline runs as.
func (d *Directory) runAs(ctx context.Context, owner sluice.User, target string) (none sluice.User, _ error) {
	if owner.Name != "" && owner.Name == target {
		return owner, nil
	}
	if permission := sluice.MayRunAs + target; !owner.May(permission) {
		return none, sluice.OwnerNotPermitted(permission)
	}
	user, err := d.User(ctx, target)
	if err != nil && !sluice.Unauthenticated.Is(err) {
		return none, err // it is not known whether there is such a user
	}
	if err != nil {
		return none, sluice.CodeForbidden.Errorf("The user to run as does not exist, or is disabled.")
	}
	return user, nil
}

// noteRunAs enters a switch that was refused in the audit log.
func (d *Directory) noteRunAs(ctx context.Context, owner, target string, err error) {
	if target != sluice.AnonymousName && !validUsername.MatchString(target) {
		target = "(invalid)" // it may come from a payload
	}
	d.noteAccess(ctx, "iam.run.as", target, owner, sluice.UserFrom(ctx).Address, sluice.AsError(err).Code)
}
