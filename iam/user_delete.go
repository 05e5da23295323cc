package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

type userDeleteParams struct {
	Username string `json:"username" required:"true" audit:"yes" doc:"Name of the user to delete."`
}

type userDeleted struct {
	Username string `json:"username"`
	Deleted  bool   `json:"deleted"`
}

func userDeleteCommand(d *Directory) command.Command {
	return command.New("iam.user.delete", "Delete a user: passwords and tokens of that user are refused from then on, and so are pipelines of that user that switch users or use secrets, until another user stores them.",
		ofOurs(d, func(ctx context.Context, p userDeleteParams) (userDeleted, error) {
			if err := checkUsername(p.Username); err != nil {
				return userDeleted{}, err
			}
			_, err := d.Accounts.Change(ctx, p.Username, func(before *sluice.Account, all map[string]*sluice.Account) (*sluice.Account, error) {
				if before == nil {
					return nil, notFound(sluice.CodeUserNotFound, "user of that name")
				}
				if err := d.mayGrant(ctx, before.Roles); err != nil {
					return nil, err
				}
				return nil, keepsAdmin(before, nil, all)
			})
			if err != nil {
				return userDeleted{}, err
			}
			// Otherwise a new user of the same name would inherit them.
			return userDeleted{p.Username, true}, d.EndSessions(ctx, p.Username, "")
		}))
}
