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

func showSamples(p sender.Preset) (views []sluice.Sample) {
	for _, s := range p.Samples() {
		view := sluice.Sample{
			Name: s.Name, ContentType: s.Header.Get("Content-Type"), Headers: make(map[string]string),
			Body: string(s.Body),
		}
		for name, values := range s.Header {
			if name != "Content-Type" {
				view.Headers[name] = values[0]
			}
		}
		views = append(views, view)
	}
	return views
}

func providerCommand() command.Command {
	return command.New("provider.get", "List the known senders that a webhook can have as its provider, or show one: "+
		"what is checked of its calls, how to set it up, and samples of its events.",
		func(_ context.Context, p providerParams) (any, error) {
			if p.Provider != "" {
				preset, err := trust.FindPreset(p.Provider)
				if err != nil {
					return nil, err
				}
				view := showProvider(preset)
				view.Samples = showSamples(preset)
				return view, nil
			}
			return command.PageOf(sender.Presets(), func(s sender.Preset) string { return s.Name }, showProvider, p.Filter),
				nil
		},
		command.Lists[sluice.ProviderView], command.Nameless)
}
