package iam

import (
	"context"

	"sluice"
)

// runAsPermission stands before the name of who may be run as.
const runAsPermission = "run.as:"

// RunAs gives the user that a pipeline switches to, if its owner may switch to
// that one: an administrator to anyone, others to users they have the
// permission run.as:<username> for. Only the owner counts, as of now; who the
// pipeline runs as, and where the name comes from, don't matter.
func (d *Directory) RunAs(ctx context.Context, owner, target string) (sluice.User, error) {
	user, err := d.runAs(ctx, owner, target)
	if target != AnonymousName && !validUsername.MatchString(target) {
		target = "(invalid)" // it may come from a payload
	}
	entry := sluice.AuditEntry{Username: owner, Address: sluice.UserFrom(ctx).Address, Command: "iam.run.as", Target: target, Outcome: sluice.AuditAllowed}
	if err != nil {
		entry.Outcome, entry.Code = sluice.AuditRefused, sluice.AsError(err).Code
	}
	d.Note(ctx, entry)
	return user, err
}

func (d *Directory) runAs(ctx context.Context, owner, target string) (sluice.User, error) {
	permission := runAsPermission + target
	who, err := d.User(ctx, owner)
	if err != nil || !who.May(permission) {
		return sluice.User{}, sluice.Errorf(sluice.Forbidden, "forbidden", "The pipeline's owner needs the permission %s.", permission)
	}
	user, err := d.User(ctx, target)
	if err != nil {
		return sluice.User{}, sluice.Errorf(sluice.Forbidden, "forbidden", "The user to run as does not exist, or is disabled.")
	}
	return user, nil
}
