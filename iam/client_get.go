package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

type clientGetParams struct {
	ClientID string `json:"clientId" doc:"Id of the one client to show. Without it all are listed."`
	Search   string `json:"search" doc:"List only clients whose id contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only clients whose id comes after this one."`
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
					return nil, notFound(sluice.CodeClientNotFound, "client with that id")
				}
				return showClient(client), nil
			}
			clients := make([]oAuthClientView, 0)
			for _, client := range d.Clients.All() {
				clients = append(clients, showClient(client))
			}
			return command.PageOf(clients, func(c oAuthClientView) string { return c.ClientID }, p.Search, p.After, p.Limit), nil
		}), command.ReadOnly, command.Answers([]oAuthClientView{}, oAuthClientView{}))
}
