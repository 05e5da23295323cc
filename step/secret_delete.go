package step

import (
	"context"

	"sluice/command"
)

type secretDeleteParams struct {
	Name string `json:"name" audit:"yes" required:"true" doc:"Name of the secret to delete."`
}

type secretDeleted struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func secretDeleteCommand(secrets *Secrets) command.Command {
	return command.New("secret.delete", "Delete a secret: pipelines that use it fail from then on.",
		func(ctx context.Context, p secretDeleteParams) (secretDeleted, error) {
			if err := secrets.Delete(ctx, p.Name); err != nil {
				return secretDeleted{}, err
			}
			return secretDeleted{Name: p.Name, Deleted: true}, nil
		})
}
