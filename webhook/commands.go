// Package webhook has the commands that manage webhooks (webhook.put, .get, .delete), their
// settings and tokens, and the rules by which webhooks are stored.
//
// What a webhook demands of its calls is checked by package trust, and package receive makes
// events of them. Package jetstream stores webhooks.
package webhook

import (
	"context"

	"sluice"
	"sluice/command"
	"sluice/webhook/form"
	"sluice/webhook/trust"
)

// Commands returns the commands about webhooks, except the one that outside systems call. baseURL is what callers put
// before /api/v3.
func Commands(hooks *Store, trusts *trust.Trusts, baseURL string) []command.Command {
	return []command.Command{
		putCommand(hooks, trusts, baseURL),
		getCommand(hooks, trusts, baseURL),
		deleteCommand(hooks),
		tokenAddCommand(hooks, baseURL),
		tokenDeleteCommand(hooks),
		providerCommand(),
		signCommand(hooks, trusts, baseURL),
	}
}

type getParams struct {
	UUID     string `json:"uuid" audit:"last6" names:"webhook" doc:"Token of the one webhook to show. Without it all are listed."`
	EventKey string `json:"eventKey" names:"event" doc:"Shows the one webhook with this event key."`
	Search   string `json:"search" doc:"List only webhooks whose event key contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only webhooks whose event key comes after this one."`
}

func getCommand(hooks *Store, trusts *trust.Trusts, baseURL string) command.Command {
	return command.New("webhook.get",
		"List webhooks in the order of their event keys, or show the one with that token or event key.",
		func(ctx context.Context, p getParams) (any, error) {
			if p.UUID != "" || p.EventKey != "" {
				hook, err := hooks.WithKey(p.EventKey)
				if p.UUID != "" {
					hook, err = hooks.Webhook(ctx, form.Canonical(p.UUID))
				}
				if err != nil {
					return nil, err
				}
				return show(ctx, hook, trusts, baseURL), nil
			}
			found, more := hooks.list(sluice.CoverFrom(ctx), p.Search, p.After, p.Limit)
			page := command.Page[sluice.WebhookView]{Items: make([]sluice.WebhookView, len(found))}
			for i, hook := range found {
				page.Items[i] = show(ctx, *hook, trusts, baseURL)
			}
			if more {
				page.Next = found[len(found)-1].EventKey
			}
			return page, nil
		},
		command.Lists[sluice.WebhookView], command.Missing(Missing))
}

type deleteParams struct {
	UUID string `json:"uuid" audit:"last6" names:"webhook" required:"true" doc:"Token of the webhook to delete."`
}

type deleted struct {
	UUID    string `json:"uuid" doc:"Its token."`
	Deleted bool   `json:"deleted" doc:"It is gone."`
}

func deleteCommand(hooks *Store) command.Command {
	return command.New("webhook.delete", "Delete the webhook with that token: calls to it are refused from then on.",
		func(ctx context.Context, p deleteParams) (deleted, error) {
			token := form.Canonical(p.UUID)
			if err := hooks.remove(ctx, token); err != nil {
				return deleted{}, err
			}
			return deleted{UUID: token, Deleted: true}, nil
		}, command.Missing(Missing))
}
