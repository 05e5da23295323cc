package webhook

import (
	"context"

	"sluice"
	"sluice/command"
	"sluice/webhook/trust"
)

func putCommand(hooks *Store, trusts *trust.Trusts, baseURL string) command.Command {
	return command.New("webhook.put",
		"Create a webhook, or edit the one with that token: what is not given keeps its value.",
		func(ctx context.Context, p putParams) (view sluice.WebhookView, err error) {
			key, _ := p.Given["eventKey"].(string)
			if p.Token != "" && p.gives("eventKey") && !maySeeToken(ctx, key) {
				return view, sluice.NotPermitted(sluice.MaySeeTokens).About("token")
			}
			hook, err := hooks.put(ctx, p, trusts)
			if err != nil {
				return view, err
			}
			view = show(ctx, hook, trusts, baseURL)
			if p.DryRun && p.UUID == "" && p.Token == "" { // it has none yet
				view.UUID, view.WebhookURL, view.HookURL, view.ETag, view.Tokens = "", "", "", "", nil
			}
			if p.gives("eventKey") {
				view.Warnings = append(view.Warnings, unconventional(key)...)
			}
			return view, nil
		}, command.Missing(Missing))
}
