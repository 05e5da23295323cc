package iam

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type me struct {
	Username    string   `json:"username" doc:"Your name."`
	Roles       []string `json:"roles" doc:"Your roles."`
	Permissions []string `json:"permissions" doc:"What you may do, somewhere or everywhere."`

	Scopes []sluice.Grant `json:"scopes,omitempty" doc:"Where you may do what roles with a scope allow."`
}

func whoamiCommand() command.Command {
	return command.New("iam.whoami", "Show who you are and what you may do.",
		func(ctx context.Context, _ struct{}) (me, error) {
			user := sluice.UserFrom(ctx)
			view := me{Username: user.Name, Roles: orEmpty(user.Roles), Permissions: orEmpty(user.AllPermissions())}
			if user.Scoped != nil {
				view.Scopes = user.Scoped.All
			}
			return view, nil
		}, command.ReadOnly, command.Nameless)
}

type keyRotated struct {
	KeyID   string    `json:"keyId" doc:"Id of the new key."`
	Created time.Time `json:"created" doc:"When it was made."`
}

func keyRotateCommand(d *Directory) command.Command {
	return command.New("iam.key.rotate",
		"Make a new key that signs tokens from now on. Tokens signed with earlier keys stay valid until they expire.",
		ofOurs(d, func(ctx context.Context, _ struct{}) (keyRotated, error) {
			id, created, err := d.RotateKey(ctx)
			return keyRotated{id, created}, err
		}), command.Global)
}
