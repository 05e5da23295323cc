package webhook

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/command"
)

type putParams struct {
	EventKey         *string             `json:"eventKey" audit:"yes" doc:"Name of the webhook and key that pipelines listen to, such as webhook.lead.created. Unique; required to create."`
	PayloadType      *sluice.PayloadType `json:"payloadType" alias:"payloadHandling" enum:"base64,raw,ignore" doc:"How the payload travels in the event: base64 (default), raw (as the JSON or text it is), or ignore (not at all)."`
	MaxPayloadLength *int                `json:"maxPayloadLength" min:"1" max:"4194304" doc:"Largest accepted payload in bytes. Default 512000."`
	UUID             string              `json:"uuid" audit:"last6" doc:"Token of the webhook to edit. Without it a new webhook is created."`
	Provider         *string             `json:"provider" audit:"yes" doc:"The system that calls, if it is a known one: its signature, handshake and delivery id are checked as it makes them. provider.get lists them; empty removes it."`
	SigningSecret    *string             `json:"signingSecret" doc:"The secret shared with the sender, or secret:<name> of a stored one; two, separated by a comma, while it is being changed. It is stored encrypted and never shown; empty removes it."`
	Signature        *any                `json:"signature" doc:"How a sender that is not a known one signs its calls, as a JSON object: header, format, algorithm, encoding, signed, timestampHeader, idHeader, tolerance. Empty removes it."`
	Dedupe           *string             `json:"dedupe" doc:"Where the id of a delivery is, so that a repeated one makes no second event: header:<name>, query:<name>, body:<member.of.json>, cloudevent, mailgun, or off. Default: where the provider has it."`
	DedupeWindow     *string             `json:"dedupeWindow" doc:"How long the id of a delivery is remembered, from 1s to 168h. Default 24h."`
	Schema           *any                `json:"schema" doc:"A JSON Schema (2020-12) that payloads must meet, up to 64 KiB; null or empty removes it."`
	VerifyToken      *string             `json:"verifyToken" doc:"What meta and strava repeat in their handshake; empty removes it."`
	Multipart        *sluice.Multipart   `json:"multipart" enum:"files,all" doc:"What of a multipart body is taken: files (default: the parts named file), or all (every field and every file)."`
	Disabled         *bool               `json:"disabled" doc:"Refuse calls for now, and keep them in the quarantine."`
	Description      *string             `json:"description" doc:"For people, up to 1000 characters."`
	DryRun           bool                `json:"dryRun" doc:"Only check: the answer is the webhook as it would be, and nothing is stored."`
	IfUpdated        time.Time           `json:"ifUpdated" doc:"The value of updated that the webhook was read with: the edit is refused if it was changed since."`
}

const maxDescription = 1000

func putCommand(hooks *Store, guards *Guards, baseURL string) command.Command {
	return command.New("webhook.put", "Create a webhook, or edit the one with that token: what is not given keeps its value.",
		func(ctx context.Context, p putParams) (view, error) {
			warnings, err := p.check()
			if err != nil {
				return view{}, err
			}
			hook, err := p.put(ctx, hooks, guards)
			if err != nil {
				return view{}, err
			}
			shown := show(ctx, hook, guards, baseURL)
			if p.DryRun && p.UUID == "" { // it has none yet
				shown.UUID, shown.WebhookURL = "", ""
			}
			shown.Warnings = append(shown.Warnings, warnings...)
			return shown, nil
		})
}

// check refuses parameters that can't be so, whatever webhook they are for.
func (p *putParams) check() (warnings []string, err error) {
	if p.UUID == "" && p.EventKey == nil {
		return nil, sluice.Errorf(sluice.CodeParameterMissing, "The parameter eventKey is required to create a webhook; to edit one, give its uuid.").About("eventKey")
	}
	if p.UUID == "" && !p.IfUpdated.IsZero() {
		return nil, sluice.InvalidParameter("ifUpdated", "The parameter ifUpdated is for an edit: give the uuid as well.")
	}
	if d := p.Description; d != nil && (utf8.RuneCountInString(*d) > maxDescription || !utf8.ValidString(*d) || strings.ContainsFunc(*d, isUnprintable)) {
		return nil, sluice.InvalidParameter("description", "The parameter description must be text of at most %d characters.", maxDescription)
	}
	if p.EventKey != nil {
		return checkEventKey(*p.EventKey)
	}
	return nil, nil
}

func isUnprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// put stores the webhook. What is demanded of calls is decided on the webhook as
// it was read, so that it is read and decided again if it was changed meanwhile.
func (p *putParams) put(ctx context.Context, hooks *Store, guards *Guards) (sluice.Webhook, error) {
	const attempts = 10
	token := canonical(p.UUID)
	u := update{
		eventKey: p.EventKey, payloadType: p.PayloadType, maxPayloadLength: p.MaxPayloadLength,
		multipart: p.Multipart, disabled: p.Disabled, description: p.Description, ifUpdated: p.IfUpdated, dryRun: p.DryRun,
	}
	demands := demandParams{p.Provider, p.SigningSecret, p.Signature, p.Dedupe, p.DedupeWindow, p.Schema, p.VerifyToken}
	if !demands.given() {
		return hooks.put(ctx, token, u)
	}
	for attempt := 1; ; attempt++ {
		var hook sluice.Webhook
		var err error
		if token != "" {
			if hook, err = hooks.Webhook(ctx, token); err != nil {
				return hook, err
			}
			if u.ifUpdated = p.IfUpdated; u.ifUpdated.IsZero() {
				u.ifUpdated = hook.Updated
			}
		}
		revised, err := guards.revise(ctx, &hook, &demands)
		if err != nil {
			return hook, err
		}
		u.trusts, u.trust = true, revised.trust()
		hook, err = hooks.put(ctx, token, u)
		if err != nil && p.IfUpdated.IsZero() && attempt < attempts && sluice.CodeChangedMeanwhile.Is(err) {
			continue
		}
		return hook, err
	}
}
