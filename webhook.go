package sluice

import (
	"context"
	"encoding/json"
	"slices"
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
	UUID             string         `json:"uuid"`             // its name and first token: secret, never changes
	Tokens           []Token        `json:"tokens,omitempty"` // that it has or had, the uuid among them; nil: the uuid alone
	EventKey         string         `json:"eventKey"`
	PayloadType      PayloadType    `json:"payloadType"`
	MaxPayloadLength int            `json:"maxPayloadLength"`
	Multipart        Multipart      `json:"multipart,omitempty"`
	Methods          []string       `json:"methods,omitempty"` // that it is called with; nil: DefaultMethods
	Disabled         bool           `json:"disabled,omitempty"`
	Answer           AnswerForm     `json:"answer,omitempty"` // "": as the provider has it
	AnswerType       string         `json:"answerType,omitempty"`
	AnswerWait       *time.Duration `json:"answerWait,omitempty"` // nil: as long as the server's other calls
	Description      string         `json:"description,omitempty"`
	ExpectEvery      time.Duration  `json:"expectEvery,omitempty"` // without a call for so long it is silent; 0: never
	Redact           []string       `json:"redact,omitempty"`      // paths of members that are never stored
	Keep             time.Duration  `json:"keep,omitempty"`        // how long its events stay; 0: as long as others
	APIURL           string         `json:"apiUrl,omitempty"`      // of the hook at the sender's API
	APISecret        string         `json:"apiSecret,omitempty"`   // for that API: a credential, or the name of a stored one
	MissedEvery      time.Duration  `json:"missedEvery,omitempty"` // how often the sender is asked what was missed; 0: never
	Trust            *Trust         `json:"trust,omitempty"`       // nil: the token alone is trusted
	Created          time.Time      `json:"created"`
	Updated          time.Time      `json:"updated"`
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

// ExpectAuto is the ExpectEvery of a webhook whose usual pauses are learned.
const ExpectAuto time.Duration = -1

// Multipart says which parts of a multipart body travel in the event.
type Multipart string

// The ways to take a multipart body.
const (
	MultipartFiles Multipart = "files" // the parts named file; "" means the same
	MultipartAll   Multipart = "all"   // every field and every file
)

// AnswerForm says what callers of a webhook get back.
type AnswerForm string

// The forms of answers.
const (
	AnswerResult AnswerForm = "result" // the result, in JSON
	AnswerValue  AnswerForm = "value"  // what the pipelines made, as it is
	AnswerEmpty  AnswerForm = "empty"  // nothing, as soon as the event is stored
)

// LongestAnswerWait is how long a call may wait for its pipelines.
const LongestAnswerWait = 30 * time.Second

// DefaultMethods are those that a webhook is called with if it does not say others, and
// FurtherMethods those that it may add.
var (
	DefaultMethods = []string{"GET", "POST"}
	FurtherMethods = []string{"PUT", "PATCH", "DELETE"}
)

// Trust is what a webhook demands of its calls beyond the token. It does not
// change once it is stored: another version is another Trust.
type Trust struct {
	Provider     string          `json:"provider,omitempty"`  // name of a known sender
	Signature    json.RawMessage `json:"signature,omitempty"` // an own scheme in place of that
	Signing      string          `json:"signing,omitempty"`   // secrets: one, two with a comma, or names of stored ones
	VerifyToken  string          `json:"verifyToken,omitempty"`
	Dedupe       string          `json:"dedupe,omitempty"` // where the id of a delivery is; "" means as the provider has it
	DedupeWindow time.Duration   `json:"dedupeWindow,omitempty"`
	Schema       json.RawMessage `json:"schema,omitempty"` // that payloads must meet

	Allow             []string `json:"allow,omitempty"`             // networks that calls may come from
	ClientCertificate string   `json:"clientCertificate,omitempty"` // PEM: whoever calls must have this one, or one that it has signed
	ClientName        string   `json:"clientName,omitempty"`        // that certificates must have
}

// Window returns how long the ids of deliveries are remembered.
func (t *Trust) Window() time.Duration {
	if t.DedupeWindow == 0 {
		return DefaultDedupeWindow
	}
	return t.DedupeWindow
}

// StoredSecret stands before the name of a stored secret, in place of a signing secret.
const StoredSecret = "secret:"

// DefaultDedupeWindow is how long the ids of deliveries are remembered where a
// webhook says nothing else.
const DefaultDedupeWindow = 24 * time.Hour

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
