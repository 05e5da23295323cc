package iam

import (
	"cmp"
	"context"
	"slices"

	"sluice/command"
)

type userGetParams struct {
	Username string `json:"username" doc:"Name of the one user to show. Without it all are listed."`
}

func userGetCommand(d *Directory) command.Command {
	return command.New("iam.user.get", "List the users, or show the one of that name.",
		ofOurs(d, func(ctx context.Context, p userGetParams) (any, error) {
			if p.Username == AnonymousName {
				return anonymousView(), nil
			}
			if p.Username != "" {
				account, err := d.Accounts.Get(ctx, p.Username)
				if err != nil {
					return nil, err
				}
				if account == nil {
					return nil, notFound("user-not-found", "user of that name")
				}
				return showUser(account), nil
			}
			users := []userView{anonymousView()}
			for _, account := range d.Accounts.All() {
				users = append(users, showUser(account))
			}
			slices.SortFunc(users, func(a, b userView) int { return cmp.Compare(a.Username, b.Username) })
			return users, nil
		}), command.ReadOnly, command.Answers([]userView{}, userView{}))
}

func anonymousView() userView {
	return userView{Username: AnonymousName, Roles: []string{"anonymous"}}
}
