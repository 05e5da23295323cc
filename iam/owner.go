package iam

import (
	"context"

	"sluice"
)

// Owner returns the user who stored a pipeline, with their present permissions. A later
// account of the same name does not count. With an external provider the roles at that
// time count, since only the provider knows the present ones.
func (d *Directory) Owner(ctx context.Context, p *sluice.Pipeline) (user sluice.User, _ error) {
	if d.External {
		return d.userWith(ctx, p.Owner, p.OwnerID, p.Roles)
	}
	owner, created, err := d.account(ctx, p.Owner)
	if sluice.Unauthenticated.Is(err) {
		err = ownerGone(p.Owner)
	}
	if err != nil {
		return user, err
	}
	same := owner.ID == p.OwnerID
	if p.OwnerID == "" {
		same = !created.After(p.Updated) // it was stored before accounts had ids
	}
	if !same {
		return user, ownerGone(p.Owner)
	}
	return owner, nil
}

// ownerGone is the error of a pipeline whose owner is gone.
func ownerGone(name string) error {
	return sluice.Errorf(sluice.CodeOwnerGone, "The account of %s, who owns this pipeline, is deleted or disabled; "+
		"let another user store the pipeline again.", name)
}
