package webhook

import (
	"context"

	"sluice"
	"sluice/command"
	"sluice/sender"
)

type providerParams struct {
	Provider string `json:"provider" doc:"Name of the one provider to show. Without it all are listed."`
	Search   string `json:"search" doc:"List only providers whose name contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only providers whose name comes after this one."`
}

func showProvider(p sender.Preset) sluice.ProviderView {
	return sluice.ProviderView{
		Provider: p.Name, Title: p.Title, Checks: p.Checks,
		SigningSecret: p.Secret, SecretRequired: !p.SecretOptional, SecretFrom: p.SecretFrom(), Signed: !p.Unsigned, VerifyToken: p.VerifyToken,
		Handshake: p.Handshake, Dedupe: p.Dedupe, Setup: p.Setup,
	}
}

func providerCommand() command.Command {
	return command.New("provider.get", "List the known senders that a webhook can have as its provider, or show one: what is checked of its calls, and how to set it up.",
		func(_ context.Context, p providerParams) (any, error) {
			if p.Provider != "" {
				preset, err := findPreset(p.Provider)
				if err != nil {
					return nil, err
				}
				return showProvider(preset), nil
			}
			var views []sluice.ProviderView
			for _, preset := range sender.Presets() {
				views = append(views, showProvider(preset))
			}
			return command.PageOf(views, func(v sluice.ProviderView) string { return v.Provider }, p.Search, p.After, p.Limit), nil
		},
		command.ReadOnly, command.Answers([]sluice.ProviderView{}, sluice.ProviderView{}))
}
