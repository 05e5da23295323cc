package webhook

import (
	"context"

	"sluice/command"
	"sluice/sender"
)

type providerParams struct {
	Provider string `json:"provider" doc:"Name of the one provider to show. Without it all are listed."`
	Search   string `json:"search" doc:"List only providers whose name contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only providers whose name comes after this one."`
}

// providerView is a known sender as provider.get shows it.
type providerView struct {
	Provider       string    `json:"provider"`
	Title          string    `json:"title"`
	Checks         string    `json:"checks"`
	SigningSecret  string    `json:"signingSecret,omitempty"`
	SecretRequired bool      `json:"secretRequired"`
	SecretFrom     string    `json:"secretFrom,omitempty" enum:"you,sender,public-key,handshake" doc:"Who makes the signing secret: you, the sender, the sender as a public key, or the sender in its handshake."`
	Signed         bool      `json:"signed" doc:"Calls are signed; otherwise they carry the secret itself, or nothing."`
	VerifyToken    bool      `json:"verifyToken"`
	Handshake      string    `json:"handshake,omitempty"`
	Dedupe         string    `json:"dedupe"`
	Setup          [3]string `json:"setup"`
}

func showProvider(p sender.Preset) providerView {
	return providerView{
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
			var views []providerView
			for _, preset := range sender.Presets() {
				views = append(views, showProvider(preset))
			}
			return command.PageOf(views, func(v providerView) string { return v.Provider }, p.Search, p.After, p.Limit), nil
		},
		command.ReadOnly, command.Answers([]providerView{}, providerView{}))
}
