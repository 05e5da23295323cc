package sluice

import (
	"context"
	"time"
)

// A QuarantinedCall is a call of a known webhook that was refused and is kept.
type QuarantinedCall struct {
	ID          string    `json:"id" doc:"For quarantine.admit: the trace id of the call."`
	EventKey    string    `json:"eventKey" doc:"Of its webhook."`
	Code        string    `json:"code" doc:"Why it was refused."`
	StatusCode  int       `json:"statusCode" doc:"Of the answer."`
	Time        time.Time `json:"time" doc:"When it came."`
	Size        int       `json:"size" doc:"Of the body, in bytes."`
	RemoteAddr  string    `json:"remoteAddr,omitempty" doc:"Where it came from."`
	DuplicateOf string    `json:"duplicateOf,omitempty" doc:"Trace id of the first call with its delivery id."`
	Diagnosis   []string  `json:"diagnosis,omitempty" doc:"What does not fit, most important first."`
	Errors      any       `json:"errors,omitempty" doc:"Where the payload does not meet the schema."`

	Token   string      `json:"-"` // of the webhook
	Request KeptRequest `json:"-"`
}

// Kept returns how many bytes of its body are kept: none of one that was too large.
func (c *QuarantinedCall) Kept() int {
	if c.Code == string(CodePayloadTooLarge) {
		return 0
	}
	return c.Size
}

// A KeptRequest is a request as it came, secrets included, or redacted. It is stored sealed.
type KeptRequest struct {
	Method   string              `json:"method"`
	Path     string              `json:"path,omitempty"` // of a call to the second address, as it came
	RawQuery string              `json:"rawQuery,omitempty"`
	Host     string              `json:"host,omitempty"`
	Header   map[string][]string `json:"header"` // by canonical names
	Body     []byte              `json:"body,omitempty"`

	Certificates [][]byte `json:"certificates,omitempty"` // of the client, in DER
	Redacted     bool     `json:"redacted,omitempty"`     // what its webhook does not store is replaced
}

// A QuarantineQuery selects calls in the quarantine, newest first.
type QuarantineQuery struct {
	ID       string    // of one; empty means any
	EventKey string    // empty means any
	Code     string    // empty means any
	From, To time.Time // zero means unbounded
	Oldest   bool      // the oldest first
	Limit    int
	After    string // cursor: where the page before it ended
	Cover    Cover  // calls of webhooks outside of it are not there
}

// OtherWebhook stands in a diagnosis before the end of the token of another webhook.
const OtherWebhook = "the webhook that ends with "

// QuarantineStore keeps rejected calls, each webhook's within its share.
type QuarantineStore interface {
	// Put stores a call, its request sealed.
	Put(ctx context.Context, c *QuarantinedCall) error

	// List returns the calls of a query, without their requests, and the cursor
	// behind them if there are more. Invalid if the query's cursor is none.
	List(ctx context.Context, q QuarantineQuery) (calls []QuarantinedCall, next string, err error)

	// Open adds token and request to a call that was listed. It reports whether the
	// call is still there.
	Open(ctx context.Context, c *QuarantinedCall) (bool, error)

	// Drop removes a call, durably. It reports whether it was there.
	Drop(ctx context.Context, id string) (bool, error)
}

// A QuarantineView is a call as quarantine.get shows it.
type QuarantineView struct {
	QuarantinedCall

	Method       string              `json:"method,omitempty" doc:"Of the call."`
	Query        map[string][]string `json:"query,omitempty" doc:"Of the call, without tokens."`
	Headers      map[string]string   `json:"headers,omitempty" doc:"Of the call, with secrets masked."`
	Body         string              `json:"body,omitempty" doc:"The body."`
	BodyEncoding Encoding            `json:"bodyEncoding,omitempty" doc:"How the body is shown: as text, or as base64."`
}
