package step

import (
	"context"

	"sluice"
	"sluice/command"
)

type secretDeleteParams struct {
	Name  string `json:"name" audit:"yes" required:"true" doc:"Name of the secret to delete."`
	Force bool   `json:"force" doc:"Delete it although webhooks or pipelines use it."`
}

type secretDeleted struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func secretDeleteCommand(secrets *Secrets, usersOf func(string) SecretUsers) command.Command {
	return command.New("secret.delete", "Delete a secret. It is refused while webhooks or pipelines use it, unless that is wanted: they fail without it, except webhooks that have another one.",
		func(ctx context.Context, p secretDeleteParams) (secretDeleted, error) {
			if !p.Force {
				if _, err := secrets.find(ctx, p.Name); err != nil { // a source may name one that was never there
					return secretDeleted{}, err
				}
				if users := usersOf(p.Name).shownTo(sluice.UserFrom(ctx)); !users.none() {
					return secretDeleted{}, users.inUse(p.Name)
				}
			}
			if err := secrets.Delete(ctx, p.Name); err != nil {
				return secretDeleted{}, err
			}
			return secretDeleted{Name: p.Name, Deleted: true}, nil
		})
}
