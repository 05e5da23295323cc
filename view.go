package sluice

import (
	"strings"
	"time"
)

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
