package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

func showUser(a *sluice.Account) sluice.UserView {
	return sluice.UserView{
		Username: a.Username, Roles: a.Roles, Disabled: a.Disabled,
		Created: a.Created, Updated: a.Updated, LastUsed: a.Used,
	}
}

type userGetParams struct {
	Username string `json:"username" doc:"Name of the one user to show. Without it all are listed."`

	command.Filter `things:"users" by:"name"`
}

func (d *Directory) getUser(ctx context.Context, p userGetParams) (any, error) {
	anonymous := &sluice.Account{Username: sluice.AnonymousName, Roles: []string{sluice.AnonymousRole}}
	switch p.Username {
	case "":
		users := append(d.Accounts.All(), anonymous)
		return command.PageOf(users, func(a *sluice.Account) string { return a.Username }, showUser, p.Filter), nil
	case sluice.AnonymousName:
		return showUser(anonymous), nil
	}
	account, err := d.Accounts.Get(ctx, p.Username)
	if err == nil && account == nil {
		err = noUser(p.Username)
	}
	if err != nil {
		return nil, err
	}
	return showUser(account), nil
}

func noUser(name string) error {
	return sluice.CodeUserNotFound.Errorf("There is no user %s; iam.user.get lists those there are.",
		sluice.Quote(name))
}

type userDeleteParams struct {
	Username string `json:"username" required:"true" audit:"yes" doc:"Name of the user to delete."`
}

func (d *Directory) deleteUser(ctx context.Context, p userDeleteParams) (string, error) {
	if err := checkUsername(p.Username); err != nil {
		return "", err
	}
	_, err := d.Accounts.Change(ctx, p.Username,
		func(before *sluice.Account, all map[string]*sluice.Account) (*sluice.Account, error) {
			if before == nil {
				return nil, noUser(p.Username)
			}
			if err := d.mayGrant(ctx, before.Roles); err != nil {
				return nil, err
			}
			return nil, keepsAdmin(before, nil, all)
		})
	if err != nil {
		return "", err
	}
	// Otherwise a new user of the same name would inherit them.
	return p.Username, d.EndSessions(ctx, p.Username, "")
}
