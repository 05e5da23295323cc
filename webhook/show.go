package webhook

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"sluice"
	"sluice/webhook/trust"
)

// show returns the view of a webhook for the user of ctx. Users who may not see tokens
// get the last 6 characters.
func (s *Store) show(ctx context.Context, h sluice.Webhook) sluice.WebhookView {
	mayToken, now := maySeeToken(ctx, h.EventKey), time.Now()
	uuid, token := h.UUID, h.OpenToken(now)
	if !mayToken {
		uuid, token = "…"+sluice.Last6(uuid), "…"+sluice.Last6(token)
	}
	v := sluice.WebhookView{
		UUID: uuid, WebhookURL: s.receiveURL(token), HookURL: s.BaseURL + sluice.HookPath + token,
		Tokens: showTokens(&h, mayToken, now), ETag: tagOf(&h), Created: h.Created, Updated: h.Updated,
	}
	showSettings(&v, &h, mayToken, sluice.CoverFrom(ctx))
	v.Methods, v.MaxPayloadLength = h.AllowedMethods(), trust.LongestPayload(&h)
	g, err := s.Trusts.Of(ctx, &h)
	if err != nil { // it can still be edited
		v.Warnings = append(v.Warnings, "Calls of this webhook can't be checked now: "+firstReason(err))
		g = new(trust.Trust)
	}
	answers := g.AnswersOf(&h)
	v.Answer, v.AnswerType, v.EventType = answers.Form, answers.Type, g.EventTypeOf(&h)
	if g.Missing != nil {
		v.Warnings = append(v.Warnings,
			"A signing secret is gone, and calls are checked without it: "+firstReason(g.Missing))
	}
	if g.HasSender() {
		v.SigningSecrets = new(g.Secrets())
	}
	if g.IDs != nil {
		v.Dedupe, v.DedupeWindow = g.Where, sluice.Period(g.Window())
	} else if err == nil {
		v.DedupeWindow = 0
	}
	return v
}

// showSettings shows the settings as they are stored, except those that the user may not
// see.
func showSettings(v *sluice.WebhookView, h *sluice.Webhook, mayToken bool, cover sluice.Cover) {
	to, hook, demands := reflect.ValueOf(v).Elem(), reflect.ValueOf(h).Elem(), reflect.ValueOf(h.Trust).Elem()
	for _, s := range settings() {
		from := hook
		if s.ofTrust {
			from = demands
		}
		if !from.IsValid() || (s.Form.Secret || s.Hidden) && !mayToken {
			continue
		}
		value, field := from.FieldByIndex(s.stored), to.FieldByIndex(s.viewed)
		if s.Form.Secret {
			value = reflect.ValueOf(namesOnly(value.String(), cover))
		}
		field.Set(value.Convert(field.Type()))
	}
}

// namesOnly returns signing secrets if all of them are names of stored ones that are
// covered, otherwise "".
func namesOnly(signing string, cover sluice.Cover) string {
	for part := range strings.SplitSeq(signing, ",") {
		if name, ok := trust.StoredName(part); !ok || !cover.Name(name) {
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
