package sluice

import (
	"context"
	"slices"
	"time"
)

// A Webhook is a secret URL that outside systems call.
type Webhook struct {
	UUID             string      `json:"uuid"`             // its name and first token: secret, never changes
	Tokens           []Token     `json:"tokens,omitempty"` // that it has or had, the uuid among them; nil: the uuid alone
	EventKey         string      `json:"eventKey"`
	PayloadType      PayloadType `json:"payloadType"`
	MaxPayloadLength int         `json:"maxPayloadLength"`
	Settings[time.Duration]
	APISecretFor string    `json:"apiSecretFor,omitempty"` // the server that APISecret was entered for
	Trust        *Trust    `json:"trust,omitempty"`        // nil: the token alone is trusted
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
}

// A WebhookFinder finds webhooks.
type WebhookFinder interface {
	// Webhook returns the webhook with that uuid, NotFound if there is none.
	Webhook(ctx context.Context, uuid string) (Webhook, error)

	// OpenedBy returns the webhook that a token, in lower case, opens now, NotFound if it
	// opens none.
	OpenedBy(ctx context.Context, token string) (Webhook, error)
}

// AllTokens returns the tokens of a webhook, the oldest first. They must not be changed.
func (h *Webhook) AllTokens() []Token {
	if h.Tokens == nil {
		return []Token{{Token: h.UUID, Created: h.Created}}
	}
	return h.Tokens
}

// OpenedBy reports whether a token, in lower case, opens the webhook.
func (h *Webhook) OpenedBy(token string, now time.Time) bool {
	if h.Tokens == nil {
		return token == h.UUID
	}
	return slices.ContainsFunc(h.Tokens, func(t Token) bool { return t.Token == token && t.IsOpen(now) })
}

// TokenUse returns the field with the last use of a token, in tokens that no other copy of the
// webhook has; nil if there is no such token.
func (h *Webhook) TokenUse(token string) *time.Time {
	h.Tokens = slices.Clone(h.Tokens)
	for i := range h.Tokens {
		if h.Tokens[i].Token == token {
			return &h.Tokens[i].Used
		}
	}
	return nil
}

// OpenToken returns the token that callers are told: the uuid while it is open, otherwise
// the newest open one; the uuid if none is open.
func (h *Webhook) OpenToken(now time.Time) string {
	if h.OpenedBy(h.UUID, now) {
		return h.UUID
	}
	for _, t := range slices.Backward(h.Tokens) {
		if t.IsOpen(now) {
			return t.Token
		}
	}
	return h.UUID
}
