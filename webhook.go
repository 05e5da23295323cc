package sluice

import (
	"context"
	"time"
)

// PayloadType says how a webhook's payload travels in its event.
type PayloadType string

// The payload types.
const (
	Base64 PayloadType = "base64" // as a base64 string in payload.origin
	Raw    PayloadType = "raw"    // as the JSON value or the text it is
	Ignore PayloadType = "ignore" // not at all
)

// Limits on the payload of a call, in bytes.
const (
	DefaultPayloadLength = 512_000
	MaxPayloadLength     = 4 << 20
)

// A Webhook is a secret URL that outside systems call.
type Webhook struct {
	UUID             string      `json:"uuid"` // the token: secret, never changes
	EventKey         string      `json:"eventKey"`
	PayloadType      PayloadType `json:"payloadType"`
	MaxPayloadLength int         `json:"maxPayloadLength"`
	Created          time.Time   `json:"created"`
	Updated          time.Time   `json:"updated"`
}

// Last6 gives the part of a token that may be shown to anyone.
func Last6(uuid string) string {
	if len(uuid) <= 6 {
		return uuid
	}
	return uuid[len(uuid)-6:]
}

// A WebhookUpdate holds what a put asks for; nil means not given.
type WebhookUpdate struct {
	EventKey         *string
	PayloadType      *PayloadType
	MaxPayloadLength *int
}

// A WebhookQuery selects webhooks, in the order of their event keys.
type WebhookQuery struct {
	Search string // part of the event key; empty means any
	After  string // event key behind which to start
	Limit  int    // 0 means all
}

// A WebhookFinder finds the webhook of a token.
type WebhookFinder interface {
	// Webhook gives the webhook with that token, NotFound if there is none.
	Webhook(ctx context.Context, uuid string) (Webhook, error)
}

// Webhooks is the store of webhooks. What it has answered is on stable storage.
type Webhooks interface {
	WebhookFinder

	// List gives the webhooks of a query and whether there are more behind them.
	List(ctx context.Context, q WebhookQuery) (hooks []Webhook, more bool, err error)

	// Put creates a webhook if uuid is empty, else edits the one it names:
	// NotFound if there is none, Conflict if the event key is taken. Of two
	// concurrent edits neither undoes the fields of the other.
	Put(ctx context.Context, uuid string, u WebhookUpdate) (Webhook, error)

	// Delete removes a webhook, NotFound if there is none.
	Delete(ctx context.Context, uuid string) error
}
