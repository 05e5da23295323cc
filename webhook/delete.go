package webhook

import (
	"context"

	"sluice"
	"sluice/webhook/form"
)

type deleteParams struct {
	UUID string `json:"uuid" audit:"last6" names:"webhook" required:"true" doc:"Token of the webhook to delete."`
}

type deleted struct {
	UUID    string `json:"uuid" doc:"Its token."`
	Deleted bool   `json:"deleted" doc:"It is gone."`
}

func (s *Store) delete(ctx context.Context, p deleteParams) (deleted, error) {
	token := form.Canonical(p.UUID)
	return deleted{token, true}, sluice.Delete(ctx, s.records, token, noWebhook("uuid"))
}
