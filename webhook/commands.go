package webhook

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

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

// show returns the view of a webhook for the user of ctx. Users who may not see tokens
// get the last 6 characters.
func show(ctx context.Context, h sluice.Webhook, trusts *Trusts, baseURL string) sluice.WebhookView {
	mayToken, now := maySeeToken(ctx, h.EventKey), time.Now()
	uuid, token := h.UUID, h.OpenToken(now)
	if !mayToken {
		uuid, token = "…"+sluice.Last6(uuid), "…"+sluice.Last6(token)
	}
	v := sluice.WebhookView{
		UUID:             uuid,
		EventKey:         h.EventKey,
		PayloadType:      h.PayloadType,
		MaxPayloadLength: h.MaxPayloadLength,
		WebhookURL:       receiveURL(baseURL, token),
		HookURL:          baseURL + sluice.HookPath + token,
		Tokens:           showTokens(&h, mayToken, now),
		Methods:          methodsOf(&h),
		Multipart:        h.Multipart,
		Redact:           h.Redact,
		Keep:             shown(h.Keep),
		ExpectEvery:      shownExpected(h.ExpectEvery),
		APIURL:           h.APIURL,
		MissedEvery:      shown(h.MissedEvery),
		Disabled:         h.Disabled,
		Description:      h.Description,
		ETag:             tagOf(&h),
		Created:          h.Created,
		Updated:          h.Updated,
	}
	if mayToken {
		v.APISecret = namesOnly(h.APISecret, sluice.CoverFrom(ctx))
	}
	showAnswer(&v, &h, nil)
	if h.Trust == nil {
		return v
	}
	v.Provider, v.Signature, v.Schema = h.Trust.Provider, h.Trust.Signature, h.Trust.Schema
	v.Allow, v.ClientCert, v.ClientName = h.Trust.Allow, h.Trust.ClientCertificate, h.Trust.ClientName
	g, err := trusts.of(ctx, &h)
	if err != nil { // it can still be edited
		v.Warnings = append(v.Warnings, "Calls of this webhook can't be checked now: "+firstReason(err))
		return v
	}
	if g.missing != nil {
		v.Warnings = append(v.Warnings, "A signing secret is gone, and calls are checked without it: "+firstReason(g.missing))
	}
	showAnswer(&v, &h, g)
	if g.verifier != nil {
		v.SigningSecrets = new(len(g.secrets))
	}
	if g.ids != nil {
		v.Dedupe, v.DedupeWindow = g.where, sluice.ShortDuration(g.Window())
	} else if h.Trust.Dedupe != "" {
		v.Dedupe = h.Trust.Dedupe
	}
	if mayToken {
		v.VerifyToken, v.SigningSecret = g.VerifyToken, namesOnly(g.Signing, sluice.CoverFrom(ctx))
	}
	return v
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

// namesOnly returns signing secrets if all of them are names of stored ones that are
// covered, otherwise "".
func namesOnly(signing string, cover sluice.Cover) string {
	for part := range strings.SplitSeq(signing, ",") {
		if name, ok := storedName(part); !ok || !cover.Name(name) {
			return ""
		}
	}
	return signing
}

// firstReason returns the message of the cause that has one for people.
func firstReason(err error) string {
	e := sluice.AsError(err)
	if cause, ok := errors.AsType[*sluice.Error](e.Err); ok {
		return cause.Message
	}
	return e.Message
}

// checkEventKey refuses what can't be an event key, and warns of unconventional ones.
func checkEventKey(key string) (warnings []string, err error) {
	if !sluice.ValidKey(key) {
		return nil, sluice.InvalidParameter("eventKey", "The parameter eventKey must be %s, such as webhook.lead.created.", sluice.KeyRule)
	}
	if key != strings.ToLower(key) {
		warnings = append(warnings, "By convention an eventKey is in lower case.")
	}
	if !strings.HasPrefix(key, sluice.WebhookPrefix) {
		warnings = append(warnings, "By convention an eventKey starts with webhook. and a dot-separated name.")
	}
	return warnings, nil
}

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
	Search   string `json:"search" doc:"List only providers whose name contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only providers whose name comes after this one."`
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
			var views []sluice.ProviderView
			for _, preset := range sender.Presets() {
				views = append(views, showProvider(preset))
			}
			return command.PageOf(views, func(v sluice.ProviderView) string { return v.Provider }, p.Search, p.After, p.Limit), nil
		},
		command.ReadOnly, command.Nameless, command.Answers([]sluice.ProviderView{}, sluice.ProviderView{}))
}
