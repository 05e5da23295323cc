package webhook

import (
	"context"

	"sluice"
	"sluice/command"
)

type getParams struct {
	UUID     string `json:"uuid" audit:"last6" doc:"Token of the one webhook to show. Without it all are listed."`
	EventKey string `json:"eventKey" doc:"Shows the one webhook with this event key."`
	Search   string `json:"search" doc:"List only webhooks whose event key contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only webhooks whose event key comes after this one."`
}

func getCommand(hooks *Store, trusts *Trusts, baseURL string) command.Command {
	return command.New("webhook.get", "List webhooks in the order of their event keys, or show the one with that token or event key.",
		func(ctx context.Context, p getParams) (any, error) {
			if p.UUID != "" {
				hook, err := hooks.Webhook(ctx, canonical(p.UUID))
				if err != nil {
					return nil, err
				}
				return show(ctx, hook, trusts, baseURL), nil
			}
			if p.EventKey != "" {
				hook, err := hooks.withKey(p.EventKey)
				if err != nil {
					return nil, err
				}
				return show(ctx, hook, trusts, baseURL), nil
			}
			found, more := hooks.list(p.Search, p.After, p.Limit)
			page := command.Page[sluice.WebhookView]{Items: make([]sluice.WebhookView, len(found))}
			for i, hook := range found {
				page.Items[i] = show(ctx, *hook, trusts, baseURL)
			}
			if more {
				page.Next = found[len(found)-1].EventKey
			}
			return page, nil
		},
		command.ReadOnly, command.Answers([]sluice.WebhookView{}, sluice.WebhookView{}))
}
