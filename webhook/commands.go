package webhook

import (
	"context"
	"errors"
	"strings"

	"sluice"
	"sluice/command"
)

// Commands returns the commands about webhooks. baseURL is what callers put
// before /api/v3.
func Commands(hooks *Store, trusts *Trusts, baseURL string, receiver *Receiver) []command.Command {
	receive := receiveCommand(receiver)
	receive.Refused = receiver.refused
	return []command.Command{
		putCommand(hooks, trusts, baseURL),
		getCommand(hooks, trusts, baseURL),
		deleteCommand(hooks),
		providerCommand(),
		signCommand(hooks, trusts, baseURL),
		receive,
	}
}

// show returns the view of a webhook for the user of ctx. Users who may
// not see tokens see their last 6 characters.
func show(ctx context.Context, h sluice.Webhook, trusts *Trusts, baseURL string) sluice.WebhookView {
	token, mayToken := h.UUID, sluice.UserFrom(ctx).May(sluice.MaySeeTokens)
	if !mayToken {
		token = "…" + sluice.Last6(token)
	}
	v := sluice.WebhookView{
		UUID:             token,
		EventKey:         h.EventKey,
		PayloadType:      h.PayloadType,
		MaxPayloadLength: h.MaxPayloadLength,
		WebhookURL:       baseURL + sluice.ReceivePath + "?token=" + token,
		Multipart:        h.Multipart,
		Disabled:         h.Disabled,
		Description:      h.Description,
		ETag:             tagOf(&h),
		Created:          h.Created,
		Updated:          h.Updated,
	}
	if h.Trust == nil {
		return v
	}
	v.Provider, v.Signature, v.Schema = h.Trust.Provider, h.Trust.Signature, h.Trust.Schema
	g, err := trusts.of(ctx, &h)
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
		v.Dedupe, v.DedupeWindow = g.where, sluice.ShortDuration(g.Window())
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
