package webhook

import (
	"cmp"
	"context"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/sender"
	"sluice/webhook/form"
)

// Commands returns the commands about webhooks. baseURL is what callers put
// before /api/v3.
func Commands(hooks *Store, trusts *Trusts, baseURL string, receiver *Receiver) []command.Command {
	return []command.Command{
		putCommand(hooks, trusts, baseURL),
		getCommand(hooks, trusts, baseURL),
		deleteCommand(hooks),
		tokenAddCommand(hooks, baseURL),
		tokenDeleteCommand(hooks),
		providerCommand(),
		signCommand(hooks, trusts, baseURL),
		receiveCommand(receiver),
	}
}

// maySeeToken reports whether the user may see and choose tokens of a webhook.
func maySeeToken(ctx context.Context, eventKey string) bool {
	return sluice.UserFrom(ctx).Cover(sluice.MaySeeTokens).Event(eventKey)
}

// Missing is the error of a webhook that is not there.
func Missing(_ context.Context, parameter, _ string) error {
	if parameter == "eventKey" {
		return noKey()
	}
	return noWebhook("uuid")
}

func noKey() error { return noWebhook("event key").About("eventKey") }

type getParams struct {
	UUID     string `json:"uuid" audit:"last6" names:"webhook" doc:"Token of the one webhook to show. Without it all are listed."`
	EventKey string `json:"eventKey" names:"event" doc:"Shows the one webhook with this event key."`
	Search   string `json:"search" doc:"List only webhooks whose event key contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only webhooks whose event key comes after this one."`
}

func getCommand(hooks *Store, trusts *Trusts, baseURL string) command.Command {
	return command.New("webhook.get", "List webhooks in the order of their event keys, or show the one with that token or event key.",
		func(ctx context.Context, p getParams) (any, error) {
			if p.UUID != "" || p.EventKey != "" {
				hook, err := hooks.WithKey(p.EventKey)
				if p.UUID != "" {
					hook, err = hooks.Webhook(ctx, form.Canonical(p.UUID))
				}
				if err != nil {
					return nil, err
				}
				return show(ctx, hook, trusts, baseURL), nil
			}
			found, more := hooks.list(sluice.CoverFrom(ctx), p.Search, p.After, p.Limit)
			page := command.Page[sluice.WebhookView]{Items: make([]sluice.WebhookView, len(found))}
			for i, hook := range found {
				page.Items[i] = show(ctx, *hook, trusts, baseURL)
			}
			if more {
				page.Next = found[len(found)-1].EventKey
			}
			return page, nil
		},
		command.ReadOnly, command.Missing(Missing), command.Answers([]sluice.WebhookView{}, sluice.WebhookView{}))
}

type deleteParams struct {
	UUID string `json:"uuid" audit:"last6" names:"webhook" required:"true" doc:"Token of the webhook to delete."`
}

type deleted struct {
	UUID    string `json:"uuid"`
	Deleted bool   `json:"deleted"`
}

func deleteCommand(hooks *Store) command.Command {
	return command.New("webhook.delete", "Delete the webhook with that token: calls to it are refused from then on.",
		func(ctx context.Context, p deleteParams) (deleted, error) {
			token := form.Canonical(p.UUID)
			if err := hooks.remove(ctx, token); err != nil {
				return deleted{}, err
			}
			return deleted{UUID: token, Deleted: true}, nil
		}, command.Missing(Missing))
}

type providerParams struct {
	Provider string `json:"provider" doc:"Name of the one provider to show. Without it all are listed."`

	command.Filter `things:"providers" by:"name"`
}

func showProvider(p sender.Preset) sluice.ProviderView {
	return sluice.ProviderView{
		Provider: p.Name, Title: p.Title, Checks: p.Checks,
		SigningSecret: p.Secret, SecretRequired: !p.SecretOptional, SecretFrom: p.SecretFrom(), Signed: !p.Unsigned, VerifyToken: p.Handshake.VerifyToken,
		Handshake: p.Handshake.Words, Dedupe: p.Dedupe, Answer: cmp.Or(p.Answers.Form, sluice.AnswerResult), AnswerType: p.Answers.Type, AnswerWords: p.Answers.Words, Retries: p.Retries, Setup: p.Setup,
	}
}

func showSamples(p sender.Preset) (views []sluice.Sample) {
	for _, s := range p.Samples() {
		view := sluice.Sample{Name: s.Name, ContentType: s.Header.Get("Content-Type"), Headers: make(map[string]string), Body: string(s.Body)}
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
	return command.New("provider.get", "List the known senders that a webhook can have as its provider, or show one: what is checked of its calls, how to set it up, and samples of its events.",
		func(_ context.Context, p providerParams) (any, error) {
			if p.Provider != "" {
				preset, err := findPreset(p.Provider)
				if err != nil {
					return nil, err
				}
				view := showProvider(preset)
				view.Samples = showSamples(preset)
				return view, nil
			}
			presets := slices.Clone(sender.Presets())
			return command.PageOf(presets, func(s sender.Preset) string { return s.Name }, showProvider, p.Filter), nil
		},
		command.ReadOnly, command.Nameless, command.Answers([]sluice.ProviderView{}, sluice.ProviderView{}))
}
