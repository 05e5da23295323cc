package iam

import (
	"cmp"
	"context"
	"slices"

	"sluice/command"
)

type clientGetParams struct {
	ClientID string `json:"clientId" doc:"Id of the one client to show. Without it all are listed."`
}

func clientGetCommand(d *Directory) command.Command {
	return command.New("iam.client.get", "List the OAuth 2.0 clients, or show the one with that id. Secrets are never shown again.",
		ofOurs(d, func(ctx context.Context, p clientGetParams) (any, error) {
			if p.ClientID != "" {
				client, err := d.Client(ctx, p.ClientID)
				if err != nil {
					return nil, err
				}
				if client == nil {
					return nil, notFound("client-not-found", "client with that id")
				}
				return showClient(client), nil
			}
			clients := make([]clientView, 0)
			for _, client := range d.Clients.All() {
				clients = append(clients, showClient(client))
			}
			slices.SortFunc(clients, func(a, b clientView) int { return cmp.Compare(a.ClientID, b.ClientID) })
			return clients, nil
		}), command.ReadOnly, command.Answers([]clientView{}, clientView{}))
}
