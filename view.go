package sluice

import (
	"encoding/json"
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

// A TokenView is a token of a webhook as webhook.get shows it.
type TokenView struct {
	Last6       string     `json:"last6" doc:"Its last 6 characters."`
	Token       string     `json:"token,omitempty" doc:"All of it, for users who may see tokens."`
	Description string     `json:"description,omitempty" doc:"What people wrote about it."`
	Created     time.Time  `json:"created" doc:"When it was made."`
	Expires     *time.Time `json:"expires,omitempty" doc:"When it is closed by itself."`
	LastUsed    *time.Time `json:"lastUsed,omitempty" doc:"When a call last came with it, to the minute; noted once a webhook has several."`
	Open        bool       `json:"open" doc:"Calls may come with it."`
}

// IsSigned reports whether calls carry a signature.
func (v *WebhookView) IsSigned() bool { return v.SigningSecrets != nil }

// A SignedCall is a call as the sender of a webhook would make it, as webhook.sign
// shows it.
type SignedCall struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// A ProviderView is a known sender as provider.get shows it.
type ProviderView struct {
	Provider       string     `json:"provider"`
	Title          string     `json:"title"`
	Checks         string     `json:"checks"`
	SigningSecret  string     `json:"signingSecret,omitempty"`
	SecretRequired bool       `json:"secretRequired"`
	SecretFrom     string     `json:"secretFrom,omitempty" enum:"you,sender,public-key,handshake" doc:"Who makes the signing secret: you, the sender, the sender as a public key, or the sender in its handshake."`
	Signed         bool       `json:"signed" doc:"Calls are signed; otherwise they carry the secret itself, or nothing."`
	VerifyToken    bool       `json:"verifyToken"`
	Handshake      string     `json:"handshake,omitempty"`
	Dedupe         string     `json:"dedupe"`
	Answer         AnswerForm `json:"answer" enum:"result,value,empty" doc:"What its calls are answered with unless the webhook says otherwise."`
	AnswerType     string     `json:"answerType,omitempty" doc:"The content type of that, unless it is the usual one."`
	AnswerWords    string     `json:"answerWords,omitempty" doc:"What it demands of answers, if that is more than any 200."`
	Retries        string     `json:"retries" doc:"How long it tries again after a failure: none, a duration such as 3d, or unknown."`
	Setup          [3]string  `json:"setup"`
	Samples        []Sample   `json:"samples,omitempty" doc:"Events as it sends them, without a signature; lists leave them out."`
}

// A Sample is an event of a known sender, for tests.
type Sample struct {
	Name        string            `json:"name"`
	ContentType string            `json:"contentType"`
	Headers     map[string]string `json:"headers" doc:"Further headers."`
	Body        string            `json:"body"`
}

// TakesSecret reports whether people enter a signing secret, here or at the sender.
func (v ProviderView) TakesSecret() bool { return v.SigningSecret != "" && v.SecretFrom != "handshake" }

// Chosen reports whether people make the secret up.
func (v ProviderView) Chosen() bool { return v.SecretFrom == "you" }

// Fixed reports whether no other text than the sender's can be stored.
func (v ProviderView) Fixed() bool { return v.SecretFrom == "public-key" }

// Key is the event key that is proposed for the provider's webhook.
func (v ProviderView) Key() string { return "webhook." + v.Provider }

// A PipelineView is a stored pipeline as its commands show it.
type PipelineView struct {
	Name        string    `json:"name" doc:"Its name."`
	Description string    `json:"description,omitempty" doc:"What its source says about it."`
	Source      string    `json:"source,omitempty" doc:"Its source, in YAML or JSON; lists leave it out."`
	Owner       string    `json:"owner" doc:"Who stored it last, with whose rights it may switch users."`
	Listens     string    `json:"listens,omitempty" doc:"Pattern of the message keys that start it."`
	Paused      bool      `json:"paused,omitempty" doc:"Events wait until it is resumed."`
	Concurrency int       `json:"concurrency,omitempty" doc:"How many runs it has at the same time at most."`
	Rate        string    `json:"rate,omitempty" doc:"How often it begins a run at most, such as 10/s."`
	Folder      bool      `json:"folder" doc:"It is from the folder of the operator."`
	Version     int       `json:"version" doc:"Number of the current source."`
	ETag        string    `json:"etag" doc:"Tells this source from others, for If-Match."`
	Created     time.Time `json:"created" doc:"When it was first stored."`
	Updated     time.Time `json:"updated" doc:"When it was last stored."`
	Warnings    []Finding `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}

// Document returns the source alone, for requests that want no JSON.
func (v PipelineView) Document() (mediaType, text string) { return "application/yaml", v.Source }

// EntityTag names this version of the pipeline.
func (v PipelineView) EntityTag() string { return v.ETag }

// ListensTo returns what starts the pipeline, as its author wrote it.
func (v PipelineView) ListensTo() string { return strings.TrimPrefix(v.Listens, EventPrefix) }

// A VersionView is a version of a pipeline as pipeline.versions shows it.
type VersionView struct {
	Version int       `json:"version"`
	Owner   string    `json:"owner"` // who stored it
	Time    time.Time `json:"time"`
	Current bool      `json:"current"`
}

// A TestReport tells how the tests of a pipeline ended, as pipeline.test shows it.
type TestReport struct {
	Passed int          `json:"passed"`
	Failed int          `json:"failed"`
	Tests  []TestResult `json:"tests"`
}

// A TestResult is how one test of a pipeline ended.
type TestResult struct {
	Name    string `json:"name"`
	Passed  bool   `json:"passed"`
	Message string `json:"message,omitempty"` // what differs
}

// A CallView is a call as trace.get shows it; in full, with its payload and result.
type CallView struct {
	Call

	Payload         json.RawMessage     `json:"payload,omitempty"` // of bytes: a Binary
	PayloadEncoding Encoding            `json:"payloadEncoding,omitempty"`
	ContentType     string              `json:"contentType,omitempty"`
	Method          string              `json:"method,omitempty"`
	Query           map[string][]string `json:"query,omitempty"`
	Headers         map[string]string   `json:"headers,omitempty"`
	Admitted        bool                `json:"admitted,omitempty"`
	Result          *Result             `json:"result,omitempty"` // as long as it is kept
}

// A Binary stands for bytes, which are shown only if they are few.
type Binary struct {
	Filename string `json:"filename,omitempty"`
	Size     int    `json:"size"`
	Type     string `json:"type"`
	Origin   string `json:"origin,omitempty"`
}

// A TraceAnswer is what trace.get has found.
type TraceAnswer struct {
	List[CallView]

	// Searched is how far back a search for a text has looked, if it is not
	// done: next goes on from there.
	Searched *time.Time `json:"searched,omitempty"`

	Facets *Facets `json:"facets,omitempty"`
}

// Facets are how the newest calls of a search divide.
type Facets struct {
	Calls     int        `json:"calls"`           // that were counted
	More      bool       `json:"more"`            // there are older ones, which were not
	Since     *time.Time `json:"since,omitempty"` // time of the oldest call that was counted
	Webhooks  []Facet    `json:"webhooks"`
	Pipelines []Facet    `json:"pipelines"`
	Statuses  []Facet    `json:"statuses"`
	Codes     []Facet    `json:"codes"`
}

// A Facet is a value that a search can be narrowed to.
type Facet struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// A QuarantineView is a call as quarantine.get shows it.
type QuarantineView struct {
	QuarantinedCall

	Method       string              `json:"method,omitempty"`
	Query        map[string][]string `json:"query,omitempty"`
	Headers      map[string]string   `json:"headers,omitempty"`
	Body         string              `json:"body,omitempty"`
	BodyEncoding Encoding            `json:"bodyEncoding,omitempty"`
}

// A Resource is a sort of thing that people list, store and delete by commands of the
// same shape: on pages, on the command line and in files.
type Resource struct {
	Name   string // of one
	Key    string // parameter and field with the name of a thing
	Page   string // of the portal; "" means that there is none
	Get    string // commands
	Put    string // "" means that there is none
	Remove string // "" means that there is none
	Effect string // of a deletion
}

// orphans says what becomes of pipelines whose owner is deleted.
const orphans = "; pipelines with this owner fail where they switch users or use secrets, until another user stores them."

var resources = []Resource{
	{
		Name: "webhook", Key: "eventKey", Page: "/webhooks", Get: "webhook.get", Put: "webhook.put", Remove: "webhook.delete",
		Effect: "Calls to it are refused from then on.",
	}, {
		Name: "pipeline", Key: "name", Page: "/pipelines", Get: "pipeline.get", Put: "pipeline.put", Remove: "pipeline.delete",
		Effect: "Events don't start it any more.",
	}, {
		Name: "user", Key: "username", Page: "/users", Get: "iam.user.get", Put: "iam.user.put", Remove: "iam.user.delete",
		Effect: "The user is signed out at once, and the password and all tokens are refused from then on" + orphans,
	}, {
		Name: "role", Key: "role", Page: "/roles", Get: "iam.role.get", Put: "iam.role.put", Remove: "iam.role.delete",
		Effect: "Users and clients with the role lose its permissions at once. A built-in role gets its original permissions back instead.",
	}, {
		Name: "client", Key: "clientId", Page: "/clients", Get: "iam.client.get", Put: "iam.client.put", Remove: "iam.client.delete",
		Effect: "The program's secret and tokens are refused from then on, and so are the logins of people who let it in" + orphans,
	}, {
		Name: "secret", Key: "name", Page: "/secrets", Get: "secret.get", Put: "secret.put", Remove: "secret.delete",
		Effect: "Webhooks and pipelines that use it fail from then on, except webhooks that have another one. The value can't be brought back.",
	},
}

// ResourceNamed returns the resource of a name. It panics if there is none, since that is
// a mistake in the program.
func ResourceNamed(name string) Resource {
	for _, r := range resources {
		if r.Name == name {
			return r
		}
	}
	panic("there is no resource " + name)
}
