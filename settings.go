package sluice

import (
	"cmp"
	"encoding/json"
	"time"
)

// Settings are what people choose for a webhook, besides its name, its payloads and its
// Demands; package webhook has a row for each setting, which says the rest about it. D is
// how durations are written: a record has numbers, a view has a Period.
type Settings[D time.Duration | Period] struct {
	Methods     []string   `json:"methods,omitempty" always:"yes" doc:"Methods that it is called with."` // of a record, nil: DefaultMethods
	Multipart   Multipart  `json:"multipart,omitempty" doc:"What is taken of multipart bodies." enum:"files,all"`
	ExpectEvery D          `json:"expectEvery,omitempty" doc:"Without a call for so long there is an alert: a duration such as 1h, or auto."` // 0: never
	Rate        string     `json:"rate,omitempty" doc:"How many calls it takes on each node, such as 100/s."`                                 // "": any number
	Redact      []string   `json:"redact,omitempty" doc:"Members that are never stored."`
	Keep        D          `json:"keep,omitempty" doc:"How long its events stay, such as 24h, unless as long as others."`
	APIURL      string     `json:"apiUrl,omitempty" doc:"Address of the hook at the sender's API."`
	APISecret   string     `json:"apiSecret,omitempty" doc:"The stored secret for that API, by name; others are not shown."`
	MissedEvery D          `json:"missedEvery,omitempty" doc:"How often the sender is asked what was missed, such as 1h."`       // 0: never
	CheckEvery  D          `json:"checkEvery,omitempty" doc:"How often the sender is asked whether it still calls, such as 6h."` // 0: never
	Answer      AnswerForm `json:"answer,omitempty" always:"yes" doc:"What callers get back." enum:"result,value,empty"`         // of a record, "": as the provider has it
	AnswerType  string     `json:"answerType,omitempty" doc:"Content type of an answer that is a value, unless it is the usual one."`
	AnswerWait  *D         `json:"answerWait,omitempty" doc:"How long a call waits for its pipelines, such as 5s, unless as long as others."`
	EventType   string     `json:"eventType,omitempty" doc:"Where calls name the kind of their event."` // of a record, "": as the provider has it
	Split       string     `json:"split,omitempty" doc:"Where calls have the list whose items are events."`
	Disabled    bool       `json:"disabled,omitempty" doc:"Calls are refused."`
	Description string     `json:"description,omitempty" doc:"What people wrote about it."`
}

// AllowedMethods returns the methods that the webhook is called with.
func (s *Settings[D]) AllowedMethods() []string {
	if s.Methods == nil {
		return DefaultMethods
	}
	return s.Methods
}

// Demands are what a webhook demands of its calls beyond the token; see Settings for D.
type Demands[D time.Duration | Period] struct {
	Provider          string          `json:"provider,omitempty" doc:"The sender whose calls are checked."`
	Signature         json.RawMessage `json:"signature,omitempty" doc:"How calls are signed, if no provider says it."`
	Signing           string          `json:"signing,omitempty" doc:"-"`                             // secrets: one, two with a comma, or names of stored ones
	Dedupe            string          `json:"dedupe,omitempty" doc:"Where the id of a delivery is."` // of a record, "": as the provider has it
	DedupeWindow      D               `json:"dedupeWindow,omitempty" doc:"How long a delivery is known, such as 24h."`
	Schema            json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of the payloads."`
	VerifyToken       string          `json:"verifyToken,omitempty" doc:"What the sender shows in its handshake."`
	Allow             []string        `json:"allow,omitempty" doc:"Networks that calls may come from."`
	ClientCertificate string          `json:"clientCertificate,omitempty" doc:"The certificate that callers must have, or the authority that signs theirs, in PEM."`
	ClientName        string          `json:"clientName,omitempty" doc:"The name that their certificates must have."`
}

// Trust is what a stored webhook demands. It does not change: another version is another
// Trust.
type Trust = Demands[time.Duration]

// DefaultDedupeWindow is how long the ids of deliveries are remembered where a webhook says
// nothing else.
const DefaultDedupeWindow = 24 * time.Hour

// Window returns how long the ids of deliveries are remembered.
func (t *Demands[D]) Window() time.Duration {
	return cmp.Or(time.Duration(t.DedupeWindow), DefaultDedupeWindow)
}

// StoredSecret stands before the name of a stored secret, in place of a signing secret.
const StoredSecret = "secret:"

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

// DefaultMethods are those that a webhook is called with if it does not say others, and
// FurtherMethods those that it may add.
var (
	DefaultMethods = []string{"GET", "POST"}
	FurtherMethods = []string{"PUT", "PATCH", "DELETE"}
)
