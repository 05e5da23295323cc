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
)

// Commands returns the commands about webhooks, except the one that outside systems call.
func Commands(hooks *Store) []command.Command {
	return []command.Command{
		putCommand(hooks), getCommand(hooks), deleteCommand(hooks), tokenAddCommand(hooks), tokenDeleteCommand(hooks),
		providerCommand(), signCommand(hooks),
	}
}

type getParams struct {
	UUID     string `json:"uuid" audit:"last6" names:"webhook" doc:"Token of the one webhook to show. Without it all are listed."`
	EventKey string `json:"eventKey" names:"event" doc:"Shows the one webhook with this event key."`

	command.Filter `things:"webhooks" by:"event key"`
}

func getCommand(hooks *Store) command.Command {
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
				return hooks.show(ctx, hook), nil
			}
			found, more := hooks.list(sluice.CoverFrom(ctx), p.Search, p.After, p.Limit)
			page := command.Page[sluice.WebhookView]{Items: make([]sluice.WebhookView, len(found))}
			for i, hook := range found {
				page.Items[i] = hooks.show(ctx, *hook)
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
