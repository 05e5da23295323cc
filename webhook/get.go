package webhook

import (
	"context"

	"sluice"
	"sluice/command"
	"sluice/webhook/form"
)

type getParams struct {
	UUID     string `json:"uuid" audit:"last6" names:"webhook" doc:"Token of the one webhook to show. Without it all are listed."`
	EventKey string `json:"eventKey" names:"event" doc:"Shows the one webhook with this event key."`

	command.Filter `things:"webhooks" by:"event key"`
}

func (s *Store) get(ctx context.Context, p getParams) (any, error) {
	if p.UUID != "" || p.EventKey != "" {
		hook, err := s.WithKey(p.EventKey)
		if p.UUID != "" {
			hook, err = s.Webhook(ctx, form.Canonical(p.UUID))
		}
		if err != nil {
			return nil, err
		}
		return s.show(ctx, hook), nil
	}
	found, more := s.list(sluice.CoverFrom(ctx), p.Search, p.After, p.Limit)
	page := command.Page[sluice.WebhookView]{Items: make([]sluice.WebhookView, len(found))}
	for i, hook := range found {
		page.Items[i] = s.show(ctx, *hook)
	}
	if more {
		page.Next = found[len(found)-1].EventKey
	}
	return page, nil
}
