package main

import (
	"sluice"
	"sluice/cmd/sluice/view"
)

func providerResource(t *cli) *resource {
	return &resource{
		cli:      t,
		Resource: sluice.Resource{Name: "provider", Key: "provider", Get: "provider.get"},
		short:    "See the senders that webhooks know, and how to set them up",
		word:     "name", example: "github",
		columns: view.Columns("provider", "title", "retries", "checks"),
		none:    "There are no providers.",
	}
}
