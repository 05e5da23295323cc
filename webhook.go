package sluice

import (
	"context"
	"slices"
	"strings"
	"time"
)

// A Webhook is a secret URL that outside systems call.
type Webhook struct {
	UUID             string      `json:"uuid"`             // its name and first token: secret, never changes
	Tokens           []Token     `json:"tokens,omitempty"` // that it has or had, the uuid among them; nil: the uuid alone
	EventKey         string      `json:"eventKey"`
	PayloadType      PayloadType `json:"payloadType"`
	MaxPayloadLength int         `json:"maxPayloadLength"` // 0: as its sender has it
	Settings[time.Duration]
	IDKey        []byte    `json:"idKey,omitempty"`        // see Event.SetFingerprint
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

// A Token is a key to a webhook.
type Token struct {
	Token       string    `json:"token"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires,omitzero"`
	Used        time.Time `json:"used,omitzero"`    // last, to the minute
	Closed      bool      `json:"closed,omitempty"` // of the uuid alone: others are deleted
}

// IsOpen reports whether calls may come with the token.
func (t *Token) IsOpen(now time.Time) bool {
	return !t.Closed && (t.Expires.IsZero() || now.Before(t.Expires))
}

// MaxTokens is how many open tokens a webhook may have.
const MaxTokens = 10

// TokenLength is how many characters a token has.
const TokenLength = 36

// IsToken reports whether a text can be the token of a webhook: a UUID, in upper or lower
// case and in no other spelling.
func IsToken(text string) bool {
	const form = "00000000-0000-0000-0000-000000000000"
	if len(text) != TokenLength {
		return false
	}
	for i, c := range []byte(text) {
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if (form[i] == '-') != (c == '-') || c != '-' && !hex {
			return false
		}
	}
	return true
}

// Last6 returns the end of a token, which may be shown to anyone.
func Last6(uuid string) string {
	if len(uuid) <= 6 {
		return uuid
	}
	return uuid[len(uuid)-6:]
}

// A TokenView is a token of a webhook as webhook.get shows it.
type TokenView struct {
	Last6       string    `json:"last6" doc:"Its last 6 characters."`
	Token       string    `json:"token,omitempty" doc:"All of it, for users who may see tokens."`
	Description string    `json:"description,omitempty" doc:"What people wrote about it."`
	Created     time.Time `json:"created" doc:"When it was made."`
	Expires     time.Time `json:"expires,omitzero" doc:"When it is closed by itself."`
	LastUsed    time.Time `json:"lastUsed,omitzero" doc:"When a call last came with it, to the minute; noted once a webhook has several."`
	Open        bool      `json:"open" doc:"Calls may come with it."`
}

// A WebhookView is a webhook as its commands show it.
type WebhookView struct {
	UUID             string      `json:"uuid" doc:"Its token; users who may not see tokens get the last 6 characters."`
	EventKey         string      `json:"eventKey" doc:"Its name, which pipelines listen to."`
	PayloadType      PayloadType `json:"payloadType" doc:"How its payloads are passed on." enum:"raw,base64,ignore"`
	MaxPayloadLength int         `json:"maxPayloadLength" doc:"Length of the largest payload that it takes, in bytes."`
	WebhookURL       string      `json:"webhookUrl" doc:"Where the sender calls it."`
	HookURL          string      `json:"hookUrl" doc:"The same without a query, for senders that refuse or lose it."`
	Tokens           []TokenView `json:"tokens,omitempty" doc:"Its tokens, the oldest first; webhook.token.add adds one."`
	Demands[Period]
	SigningSecrets *int   `json:"signingSecrets,omitempty" doc:"How many secrets a call may be signed with."`
	SigningSecret  string `json:"signingSecret,omitempty" doc:"The stored secrets that calls are signed with, by name."`
	Settings[Period]
	ETag     string    `json:"etag" doc:"Tells this version of the webhook from others, for ifMatch."`
	Created  time.Time `json:"created" doc:"When it was created."`
	Updated  time.Time `json:"updated" doc:"When it was last changed."`
	Warnings []string  `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}

// OpenToken returns the token in its URLs.
func (v *WebhookView) OpenToken() string { return v.HookURL[strings.LastIndexByte(v.HookURL, '/')+1:] }

// IsSigned reports whether calls carry a signature.
func (v *WebhookView) IsSigned() bool { return v.SigningSecrets != nil }
