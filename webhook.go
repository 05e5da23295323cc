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

// Last6 returns the end of a token, which may be shown to anyone.
func Last6(uuid string) string {
	if len(uuid) <= 6 {
		return uuid
	}
	return uuid[len(uuid)-6:]
}

// A WebhookFinder finds the webhook of a token.
type WebhookFinder interface {
	// Webhook returns the webhook with that token, NotFound if there is none.
	Webhook(ctx context.Context, uuid string) (Webhook, error)
}
