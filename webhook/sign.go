package webhook

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
	"sluice/webhook/trust"
)

type signParams struct {
	EventKey string `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`

	trust.Wish
}

func signCommand(hooks *Store) command.Command {
	return command.New("webhook.sign", "Make a call as the webhook's sender would, with its signature, to try the "+
		"webhook with it. Needs the permission webhook.token, too, and secret.use where calls carry the secret itself.",
		func(ctx context.Context, p signParams) (call sluice.SignedCall, _ error) {
			if !maySeeToken(ctx, p.EventKey) {
				return call, sluice.NotPermitted(sluice.MaySeeTokens)
			}
			hook, err := hooks.WithKey(p.EventKey)
			if err != nil {
				return call, err
			}
			g, err := hooks.Trusts.Of(ctx, &hook)
			if err != nil {
				return call, err
			}
			if g.SendsSecret() && !g.MayUse(sluice.UserFrom(ctx), hook.EventKey) {
				return call, sluice.NotPermitted(sluice.MayUseSecrets)
			}
			return g.Sign(hooks.receiveURL(hook.OpenToken(time.Now())), p.Wish, time.Now())
		}, command.Missing(Missing))
}
