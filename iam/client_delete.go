package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

type clientDeleteParams struct {
	ClientID string `json:"clientId" required:"true" audit:"yes" doc:"Id of the client to delete."`
}

type clientDeleted struct {
	ClientID string `json:"clientId"`
	Deleted  bool   `json:"deleted"`
}

func clientDeleteCommand(d *Directory) command.Command {
	return command.New("iam.client.delete", "Delete an OAuth 2.0 client: its secret and tokens are refused from then on.",
		ofOurs(d, func(ctx context.Context, p clientDeleteParams) (clientDeleted, error) {
			if p.ClientID == clientName {
				return clientDeleted{}, builtin("The client " + clientName)
			}
			_, err := d.Clients.Change(ctx, p.ClientID, func(before *sluice.Client, _ map[string]*sluice.Client) (*sluice.Client, error) {
				if before == nil {
					return nil, notFound(sluice.CodeClientNotFound, "client with that id")
				}
				return nil, d.mayGrant(ctx, before.Roles)
			})
			if err != nil {
				return clientDeleted{}, err
			}
			// Otherwise a new client with the same id would inherit them.
			return clientDeleted{p.ClientID, true}, d.EndSessions(ctx, "", p.ClientID)
		}))
}
