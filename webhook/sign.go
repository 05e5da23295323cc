package webhook

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
	"sluice/webhook/trust"
)

type signParams struct {
	EventKey    string `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`
	ContentType string `json:"contentType" doc:"Media type of the payload. Default application/json."`
	Sample      string `json:"sample" doc:"Name of a sample of the provider, such as push, that is sent with the headers of the provider and a new delivery id; a payload that is given takes the place of that of the sample."`
	Payload     string `json:"payload" body:"only" doc:"The payload, as its sender would send it."`
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
			if g.Verifier != nil && g.Verifier.SendsSecret() && !g.MayUse(sluice.UserFrom(ctx), hook.EventKey) {
				return call, sluice.NotPermitted(sluice.MayUseSecrets)
			}
			return g.Sign(hooks.receiveURL(hook.OpenToken(time.Now())), trust.Wish{
				ContentType: p.ContentType, Sample: p.Sample, Payload: p.Payload,
			}, time.Now())
		}, command.Missing(Missing))
}
