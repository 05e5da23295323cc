package iam

import (
	"context"
	"time"

	"sluice"
)

type me struct {
	Username    string   `json:"username" doc:"Your name."`
	Roles       []string `json:"roles" doc:"Your roles."`
	Permissions []string `json:"permissions" doc:"What you may do, somewhere or everywhere."`

	Scopes []sluice.Grant `json:"scopes,omitempty" doc:"Where you may do what roles with a scope allow."`
}

func whoami(ctx context.Context, _ struct{}) (me, error) {
	user := sluice.UserFrom(ctx)
	view := me{Username: user.Name, Roles: orEmpty(user.Roles), Permissions: orEmpty(user.AllPermissions())}
	if user.Scoped != nil {
		view.Scopes = user.Scoped.All
	}
	return view, nil
}

type keyRotated struct {
	KeyID   string    `json:"keyId" doc:"Id of the new key."`
	Created time.Time `json:"created" doc:"When it was made."`
}

func (d *Directory) rotateKey(ctx context.Context, _ struct{}) (keyRotated, error) {
	id, created, err := d.RotateKey(ctx)
	return keyRotated{id, created}, err
}
