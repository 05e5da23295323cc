package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

type me struct {
	Username    string   `json:"username"`
	Roles       []string `json:"roles"`
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
