package iam

import (
	"context"
	"sluice"

	"sluice/command"
)

type userGetParams struct {
	Username string `json:"username" doc:"Name of the one user to show. Without it all are listed."`
	Search   string `json:"search" doc:"List only users whose name contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only users whose name comes after this one."`
}

func userGetCommand(d *Directory) command.Command {
	return command.New("iam.user.get", "List the users, or show the one of that name.",
		ofOurs(d, func(ctx context.Context, p userGetParams) (any, error) {
			if p.Username == sluice.AnonymousName {
				return anonymousView(), nil
			}
			if p.Username != "" {
				account, err := d.Accounts.Get(ctx, p.Username)
				if err != nil {
					return nil, err
				}
				if account == nil {
					return nil, notFound(sluice.CodeUserNotFound, "user of that name")
				}
				return showUser(account), nil
			}
			users := []userView{anonymousView()}
			for _, account := range d.Accounts.All() {
				users = append(users, showUser(account))
			}
			return command.PageOf(users, func(u userView) string { return u.Username }, p.Search, p.After, p.Limit), nil
		}), command.ReadOnly, command.Answers([]userView{}, userView{}))
}

func anonymousView() userView {
	return userView{Username: sluice.AnonymousName, Roles: []string{"anonymous"}}
}
