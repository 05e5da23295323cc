package webhook

import (
	"context"
	"time"

	"sluice"
	"sluice/webhook/trust"
)

type signParams struct {
	EventKey string `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`

	trust.Wish
}

func (s *Store) sign(ctx context.Context, p signParams) (call sluice.SignedCall, _ error) {
	if !maySeeToken(ctx, p.EventKey) {
		return call, sluice.NotPermitted(sluice.MaySeeTokens)
	}
	hook, err := s.WithKey(p.EventKey)
	if err != nil {
		return call, err
	}
	g, err := s.Trusts.Of(ctx, &hook)
	if err != nil {
		return call, err
	}
	if g.SendsSecret() && !g.MayUse(sluice.UserFrom(ctx), hook.EventKey) {
		return call, sluice.NotPermitted(sluice.MayUseSecrets)
	}
	return g.Sign(s.receiveURL(hook.OpenToken(time.Now())), p.Wish, time.Now())
}
