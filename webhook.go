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
	Trust   *Trust    `json:"trust,omitempty"` // nil: the token alone is trusted
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
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

// MaxTokens is how many open tokens a webhook may have.
const MaxTokens = 10

// IsOpen reports whether calls may come with the token.
func (t *Token) IsOpen(now time.Time) bool {
	return !t.Closed && (t.Expires.IsZero() || now.Before(t.Expires))
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

// A WebhookFinder finds webhooks.
type WebhookFinder interface {
	// Webhook returns the webhook with that uuid, NotFound if there is none.
	Webhook(ctx context.Context, uuid string) (Webhook, error)

	// OpenedBy returns the webhook that a token, in lower case, opens now, NotFound if it
	// opens none.
	OpenedBy(ctx context.Context, token string) (Webhook, error)
}

// MissedProviders are the senders that can be asked what they have sent.
var MissedProviders = []string{"github", "gitlab", "paddle", "paypal", "square", "stripe", "svix"}

// Missed says what a sender has sent, and what became of it, as webhook.missed shows it.
type Missed struct {
	Asked  int          `json:"asked" doc:"How many deliveries the sender lists, each once however often it was sent."`
	Had    int          `json:"had" doc:"Those of them that were accepted here."`
	Missed int          `json:"missed" doc:"The others."`
	Items  []MissedItem `json:"items"`
}

// A MissedItem is a delivery that its sender lists.
type MissedItem struct {
	ID    string    `json:"id" doc:"The delivery id."`
	Time  time.Time `json:"time,omitzero" doc:"When it was sent, as far as the sender says."`
	State string    `json:"state" enum:"had,redelivered,fetched,gone,missed" doc:"redelivered: the sender was told to send it again; fetched: it was taken from the sender's API; gone: the sender has it no longer; missed: nothing was done, by a dry run, or since the sender still tries, or since the checks of the webhook refused it."`
}

// States of a MissedItem.
const (
	MissedHad         = "had"
	MissedRedelivered = "redelivered"
	MissedFetched     = "fetched"
	MissedGone        = "gone"
	MissedStill       = "missed"
)

// A MissedRun says how far the sender of a webhook was asked by itself.
type MissedRun struct {
	UUID  string    `json:"uuid"`
	Time  time.Time `json:"time"`           // when it was last asked
	Until time.Time `json:"until,omitzero"` // what was sent before is known
}

// A List is a page of what a command has found, with the way to the next one.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"Value of the parameter after for the next page; missing at the end."`
}

// Bulk is the common part of the answers of commands that do something with many
// things, a page of them in each request.
type Bulk struct {
	Skipped int        `json:"skipped,omitempty" doc:"How many stay as they are, since nothing could be done with them."`
	Items   []BulkItem `json:"items,omitzero" doc:"What became of each."`
	Next    string     `json:"next,omitempty" doc:"Value of the parameter after for the next page; missing at the end."`
}

// A BulkItem is what became of one thing: the ids of the new call, or why there is
// none.
type BulkItem struct {
	ID            string `json:"id,omitempty" doc:"Of a call in the quarantine."`
	Letter        string `json:"letter,omitempty" doc:"Of a dead letter."`
	TraceID       string `json:"traceId,omitempty" doc:"Of the new call; event.replay: of the call that is repeated."`
	NewTraceID    string `json:"newTraceId,omitempty" doc:"Of the new call, where traceId is that of the old one."`
	CorrelationID string `json:"correlationId,omitempty" doc:"Of the new call, for users who may see payloads."`
	Code          string `json:"code,omitempty" doc:"Of the reason why nothing was done with it."`
	Message       string `json:"message,omitempty" doc:"The reason in words."`
}

// Retries tell how many events are tried now.
type Retries struct {
	Retried int `json:"retried" doc:"How many events are due now, or would be."`
}

// Replays tell which events were sent again.
type Replays struct {
	Replayed int `json:"replayed" doc:"How many were sent again."`
	Selected int `json:"selected,omitempty" doc:"Of a dry run: how many would be sent again."`
	Bulk
}

// Admissions tell which calls were let in after all.
type Admissions struct {
	Admitted int `json:"admitted" doc:"How many were let in."`
	Refused  int `json:"refused" doc:"How many were rejected again, and stay."`
	Bulk
}

// Erased tells which calls were erased.
type Erased struct {
	Erased int `json:"erased" doc:"How many calls were erased."`
	Bulk
}

// Deletions tell how much was deleted.
type Deletions struct {
	Deleted int `json:"deleted" doc:"How many were deleted."`
	Bulk
}

// A BulkAnswer is any answer about many things.
type BulkAnswer interface {
	// Did returns how many things were done, and the common part of the answer.
	Did() (int, Bulk)
}

// Did implements BulkAnswer.
func (r Replays) Did() (int, Bulk) { return r.Replayed, r.Bulk }

// Did implements BulkAnswer.
func (a Admissions) Did() (int, Bulk) { return a.Admitted, a.Bulk }

// Did implements BulkAnswer.
func (d Deletions) Did() (int, Bulk) { return d.Deleted, d.Bulk }
