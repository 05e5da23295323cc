package iam

import (
	"context"

	"sluice"
)

type authorizeParams struct {
	Authorization string `json:"authorization" required:"true" doc:"What would be the Authorization header: Basic, Bearer or Refresh, and the credentials."`
	Body          any    `json:"body" body:"default" doc:"What is passed on."`
}

// switchUser switches a run to the user with some credentials.
func (a *Authenticator) switchUser(ctx context.Context, p authorizeParams) (any, error) {
	run := sluice.RunFrom(ctx)
	caller := sluice.UserFrom(ctx)
	user, _, err := a.Authorize(ctx, p.Authorization, caller.Address)
	if err != nil {
		return nil, err // the refusal is in the audit log
	}
	a.Directory.noteAccess(ctx, "iam.authorize", run.Pipeline, user.Name, caller.Address, "")
	user.Address = caller.Address
	run.Switch(user)
	return p.Body, nil
}
