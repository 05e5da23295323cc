package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"sluice"
	"sluice/command"
)

// Commands returns the commands about webhooks. baseURL is what callers put
// before /api/v3.
func Commands(hooks *Store, guards *Guards, baseURL string, receiver *Receiver) []command.Command {
	receive := receiveCommand(receiver)
	receive.Refused = receiver.refused
	return []command.Command{
		putCommand(hooks, guards, baseURL),
		getCommand(hooks, guards, baseURL),
		deleteCommand(hooks),
		providerCommand(),
		signCommand(hooks, guards, baseURL),
		receive,
	}
}

// A view is a webhook as its commands show it.
type view struct {
	UUID             string             `json:"uuid" doc:"Its token; users who may not see tokens get the last 6 characters."`
	EventKey         string             `json:"eventKey" doc:"Its name, which pipelines listen to."`
	PayloadType      sluice.PayloadType `json:"payloadType" doc:"How its payloads are passed on." enum:"raw,base64,ignore"`
	MaxPayloadLength int                `json:"maxPayloadLength" doc:"Length of the largest payload that it takes, in bytes."`
	WebhookURL       string             `json:"webhookUrl" doc:"Where the sender calls it."`
	Provider         string             `json:"provider,omitempty" doc:"The sender whose calls are checked."`
	Signature        json.RawMessage    `json:"signature,omitempty" doc:"How calls are signed, if no provider says it."`
	SigningSecrets   *int               `json:"signingSecrets,omitempty" doc:"How many secrets a call may be signed with."`
	SigningSecret    string             `json:"signingSecret,omitempty" doc:"The stored secrets that calls are signed with, by name."`
	Dedupe           string             `json:"dedupe,omitempty" doc:"Where the id of a delivery is."`
	DedupeWindow     string             `json:"dedupeWindow,omitempty" doc:"How long a delivery is known, such as 24h."`
	Schema           json.RawMessage    `json:"schema,omitempty" doc:"JSON Schema of the payloads."`
	VerifyToken      string             `json:"verifyToken,omitempty" doc:"What the sender shows in its handshake."`
	Multipart        sluice.Multipart   `json:"multipart,omitempty" doc:"What is taken of multipart bodies." enum:"files,all"`
	Disabled         bool               `json:"disabled,omitempty" doc:"Calls are refused."`
	Description      string             `json:"description,omitempty" doc:"What people wrote about it."`
	Created          time.Time          `json:"created" doc:"When it was created."`
	Updated          time.Time          `json:"updated" doc:"When it was last changed."`
	Warnings         []string           `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}

// show returns the view of a webhook for the user of ctx. Users who may
// not see tokens see their last 6 characters.
func show(ctx context.Context, h sluice.Webhook, guards *Guards, baseURL string) view {
	token, mayToken := h.UUID, sluice.UserFrom(ctx).May(sluice.MaySeeTokens)
	if !mayToken {
		token = "…" + sluice.Last6(token)
	}
	v := view{
		UUID:             token,
		EventKey:         h.EventKey,
		PayloadType:      h.PayloadType,
		MaxPayloadLength: h.MaxPayloadLength,
		WebhookURL:       baseURL + sluice.ReceivePath + "?token=" + token,
		Multipart:        h.Multipart,
		Disabled:         h.Disabled,
		Description:      h.Description,
		Created:          h.Created,
		Updated:          h.Updated,
	}
	if h.Trust == nil {
		return v
	}
	v.Provider, v.Signature, v.Schema = h.Trust.Provider, h.Trust.Signature, h.Trust.Schema
	g, err := guards.of(ctx, &h)
	if err != nil { // what can't be used now can still be edited
		v.Warnings = append(v.Warnings, "Calls of this webhook can't be checked now: "+firstReason(err))
		return v
	}
	if g.missing != nil {
		v.Warnings = append(v.Warnings, "A signing secret is gone, and calls are checked without it: "+firstReason(g.missing))
	}
	if g.verifier != nil {
		v.SigningSecrets = &g.count
	}
	if g.ids != nil {
		v.Dedupe, v.DedupeWindow = g.where, sluice.ShortDuration(g.window())
	} else if h.Trust.Dedupe != "" {
		v.Dedupe = h.Trust.Dedupe
	}
	if mayToken {
		v.VerifyToken, v.SigningSecret = g.VerifyToken, namesOnly(g.Signing)
	}
	return v
}

// namesOnly returns signing secrets that are all names of stored ones, and nothing
// if one is not.
func namesOnly(signing string) string {
	for part := range strings.SplitSeq(signing, ",") {
		if _, ok := storedName(part); !ok {
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

// keyPrefix is what event keys begin with by convention.
const keyPrefix = "webhook."

// checkEventKey refuses what can't be an event key, and warns of what is not
// by convention.
func checkEventKey(key string) (warnings []string, err error) {
	if !sluice.ValidKey(key) {
		return nil, sluice.InvalidParameter("eventKey", "The parameter eventKey must be %s, such as webhook.lead.created.", sluice.KeyRule)
	}
	if key != strings.ToLower(key) {
		warnings = append(warnings, "By convention an eventKey is in lower case.")
	}
	if !strings.HasPrefix(key, keyPrefix) {
		warnings = append(warnings, "By convention an eventKey starts with webhook. and a dot-separated name.")
	}
	return warnings, nil
}
