package webhook

import (
	"context"

	"sluice/command"
)

type deleteParams struct {
	UUID string `json:"uuid" audit:"last6" required:"true" doc:"Token of the webhook to delete."`
}

type deleted struct {
	UUID    string `json:"uuid"`
	Deleted bool   `json:"deleted"`
}

func deleteCommand(hooks *Store) command.Command {
	return command.New("webhook.delete", "Delete the webhook with that token: calls to it are refused from then on.",
		func(ctx context.Context, p deleteParams) (deleted, error) {
			token := canonical(p.UUID)
			if err := hooks.remove(ctx, token); err != nil {
				return deleted{}, err
			}
			return deleted{UUID: token, Deleted: true}, nil
		})
}
