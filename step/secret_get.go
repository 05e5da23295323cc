package step

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type secretView struct {
	Name     string    `json:"name"`
	Updated  time.Time `json:"updated"`
	LastUsed time.Time `json:"lastUsed,omitzero" doc:"When a pipeline or a webhook used it last, to the minute."`

	UsedBy *SecretUsers `json:"usedBy,omitempty" doc:"What uses it; lists leave it out."`
}

func showSecret(s *sluice.Secret) secretView {
	return secretView{Name: s.Name, Updated: s.Updated, LastUsed: s.Used}
}

type secretGetParams struct {
	Name   string `json:"name" doc:"Name of the one secret to show. Without it all are listed."`
	Search string `json:"search" doc:"List only secrets whose name contains this."`
	Limit  int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After  string `json:"after" doc:"List only secrets whose name comes after this one."`
}

func secretGetCommand(secrets *Secrets, usersOf func(string) SecretUsers) command.Command {
	return command.New("secret.get", "List the secrets, or show the one of that name: when it was changed and used, and by what; values are never shown.",
		func(ctx context.Context, p secretGetParams) (any, error) {
			if p.Name != "" {
				record, err := secrets.find(ctx, p.Name)
				if err != nil {
					return nil, err
				}
				shown := showSecret(record)
				if users := usersOf(p.Name).shownTo(sluice.UserFrom(ctx)); !users.none() {
					shown.UsedBy = &users
				}
				return shown, nil
			}
			all := secrets.list()
			views := make([]secretView, len(all))
			for i, secret := range all {
				views[i] = showSecret(secret)
			}
			return command.PageOf(views, func(v secretView) string { return v.Name }, p.Search, p.After, p.Limit), nil
		},
		command.ReadOnly, command.Answers([]secretView{}, secretView{}))
}
