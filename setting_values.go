package sluice

import "time"

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

// LongestAnswerWait is how long a call may wait for its pipelines.
const LongestAnswerWait = 30 * time.Second

// DefaultMethods are those that a webhook is called with if it does not say others, and
// FurtherMethods those that it may add.
var (
	DefaultMethods = []string{"GET", "POST"}
	FurtherMethods = []string{"PUT", "PATCH", "DELETE"}
)
