package step

import (
	"context"
	"time"

	"sluice/command"
)

type secretView struct {
	Name    string    `json:"name"`
	Updated time.Time `json:"updated"`
}

func secretGetCommand(secrets *Secrets) command.Command {
	return command.New("secret.get", "List the names of the secrets; their values are never shown.",
		func(context.Context, struct{}) ([]secretView, error) {
			all := secrets.list()
			views := make([]secretView, len(all))
			for i, secret := range all {
				views[i] = secretView{Name: secret.Name, Updated: secret.Updated}
			}
			return views, nil
		},
		command.ReadOnly)
}
