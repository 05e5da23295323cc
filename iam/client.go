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

func (d *Directory) getClient(ctx context.Context, p clientGetParams) (any, error) {
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
}

func noClient(id string) error {
	return sluice.CodeClientNotFound.Errorf("There is no client %s; iam.client.get lists those there are.",
		sluice.Quote(id))
}

type clientDeleteParams struct {
	ClientID string `json:"clientId" required:"true" audit:"yes" doc:"Id of the client to delete."`
}

func (d *Directory) deleteClient(ctx context.Context, p clientDeleteParams) (string, error) {
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
}
