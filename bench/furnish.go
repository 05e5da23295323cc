package main

import (
	"context"
	"fmt"
	"net/url"
)

// furnished is how many pipelines, users, roles and clients there are, and how
// many calls start pipelines: more than a page shows.
const furnished = 30

// furnish makes what lists show beside webhooks and calls: pipelines that work
// and pipelines that fail, with some runs each, and users, roles and clients.
func (a *admin) furnish(ctx context.Context) error {
	for i := range furnished {
		name := fmt.Sprintf("item-%d", i)
		for command, args := range map[string]url.Values{
			"iam.user.put":   {"username": {name}, "roles": {"viewer"}},
			"iam.role.put":   {"role": {name}, "permissions": {"webhook.get"}},
			"iam.client.put": {"clientId": {name}, "roles": {"viewer"}},
		} {
			if err := a.call(ctx, command, args, nil); err != nil {
				return err
			}
		}
		if err := a.store(ctx, name, steps("webhook.item."+name)); err != nil {
			return err
		}
	}
	if err := a.store(ctx, "works", steps("webhook.seldom.*")); err != nil {
		return err
	}
	if err := a.store(ctx, "fails", "pipeline:\n  - event.listen: {eventKey: webhook.seldom.call}\n  - fail: {message: no}\n"); err != nil {
		return err
	}
	var seldom struct {
		UUID string `json:"uuid"`
	}
	if err := a.call(ctx, "webhook.put", url.Values{"eventKey": {"webhook.seldom.call"}}, &seldom); err != nil {
		return err
	}
	for range furnished {
		if err := a.call(ctx, "webhook.receive?token="+seldom.UUID, nil, nil); err != nil {
			return err
		}
		_ = a.call(ctx, "webhook.receive?token=none", nil, nil) // it is refused, and listed
	}
	return nil
}
