package iam

import (
	"context"

	"sluice"
	"sluice/command"
)

func showClient(c *sluice.Client) sluice.OAuthClientView {
	return sluice.OAuthClientView{
		ClientID: c.ID, Roles: c.Roles, Grants: c.Grants, RedirectURIs: c.RedirectURIs, Public: c.Secret == "",
		Created: c.Created, Updated: c.Updated, LastUsed: c.Used,
	}
}

type clientGetParams struct {
	ClientID string `json:"clientId" doc:"Id of the one client to show. Without it all are listed."`

	command.Filter `things:"clients" by:"id"`
}

func clientGetCommand(d *Directory) command.Command {
	return command.New("iam.client.get",
		"List the OAuth 2.0 clients, or show the one with that id. Secrets are never shown again.",
		ofOurs(d, func(ctx context.Context, p clientGetParams) (any, error) {
			if p.ClientID == "" {
				return command.PageOf(d.Clients.All(),
					func(c *sluice.Client) string { return c.ID }, showClient, p.Filter), nil
			}
			client, err := d.Client(ctx, p.ClientID)
			if err == nil && client == nil {
				err = noClient(p.ClientID)
			}
			if err != nil {
				return nil, err
			}
			return showClient(client), nil
		}), command.Lists[sluice.OAuthClientView], command.Global)
}

func noClient(id string) error {
	return sluice.CodeClientNotFound.Errorf("There is no client %s; iam.client.get lists those there are.",
		sluice.Quote(id))
}

type clientDeleteParams struct {
	ClientID string `json:"clientId" required:"true" audit:"yes" doc:"Id of the client to delete."`
}

func clientDeleteCommand(d *Directory) command.Command {
	return command.Removing("iam.client.delete",
		"Delete an OAuth 2.0 client: its secret and tokens are refused from then on.",
		ofOurs(d, func(ctx context.Context, p clientDeleteParams) (string, error) {
			if p.ClientID == clientName {
				return "", builtin("The client " + clientName)
			}
			_, err := sluice.Replace(ctx, d.Clients, p.ClientID, func(before *sluice.Client) (*sluice.Client, error) {
				if before == nil {
					return nil, noClient(p.ClientID)
				}
				return nil, d.mayChange(ctx, before)
			})
			if err != nil {
				return "", err
			}
			// Otherwise a new client with the same id would inherit them.
			return p.ClientID, d.EndSessions(ctx, "", p.ClientID)
		}), command.Global)
}
