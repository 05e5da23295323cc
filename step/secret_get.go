package step

import (
	"context"
	"time"

	"sluice/command"
)

type secretView struct {
	Name     string    `json:"name"`
	Updated  time.Time `json:"updated"`
	LastUsed time.Time `json:"lastUsed,omitzero" doc:"When a pipeline or a webhook used it last, to the minute."`
}

type secretGetParams struct {
	Search string `json:"search" doc:"List only secrets whose name contains this."`
	Limit  int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After  string `json:"after" doc:"List only secrets whose name comes after this one."`
}

func secretGetCommand(secrets *Secrets) command.Command {
	return command.New("secret.get", "List the names of the secrets; their values are never shown.",
		func(_ context.Context, p secretGetParams) (command.Page[secretView], error) {
			all := secrets.list()
			views := make([]secretView, len(all))
			for i, secret := range all {
				views[i] = secretView{Name: secret.Name, Updated: secret.Updated, LastUsed: secret.Used}
			}
			return command.PageOf(views, func(v secretView) string { return v.Name }, p.Search, p.After, p.Limit), nil
		},
		command.ReadOnly, command.Answers([]secretView{}))
}
