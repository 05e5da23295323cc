package webhook

import (
	"cmp"
	"context"

	"sluice"
	"sluice/command"
	"sluice/sender"
	"sluice/webhook/trust"
)

type providerParams struct {
	Provider string `json:"provider" doc:"Name of the one provider to show. Without it all are listed."`

	command.Filter `things:"providers" by:"name"`
}

func showProvider(p sender.Preset) sluice.ProviderView {
	return sluice.ProviderView{
		Provider: p.Name, Title: p.Title, Checks: p.Checks,
		SigningSecret: p.Secret, SecretRequired: !p.SecretOptional, SecretFrom: p.SecretFrom(), Signed: !p.Unsigned,
		VerifyToken: p.Handshake.VerifyToken, MaxPayloadLength: cmp.Or(p.MaxPayloadLength, sluice.DefaultPayloadLength),
		Handshake: p.Handshake.Words, Dedupe: p.Dedupe, EventType: p.EventType, Split: p.Split,
		Answer:     cmp.Or(p.Answers.Form, sluice.AnswerResult),
		AnswerType: p.Answers.Type, AnswerWords: p.Answers.Words, Retries: p.Retries, Checked: p.Checked,
		Setup: p.Setup,
	}
}

func getProvider(_ context.Context, p providerParams) (any, error) {
	if p.Provider != "" {
		preset, err := trust.FindPreset(p.Provider)
		if err != nil {
			return nil, err
		}
		view := showProvider(preset)
		view.Samples = preset.Samples()
		return view, nil
	}
	name := func(p sender.Preset) string { return p.Name }
	return command.PageOf(sender.Presets(), name, showProvider, p.Filter), nil
}
