package sluice

// A ProviderView is a known sender as provider.get shows it.
type ProviderView struct {
	Provider         string     `json:"provider" doc:"Its name, for webhook.put."`
	Title            string     `json:"title" doc:"Its name for people."`
	Checks           string     `json:"checks" doc:"What is checked of its calls."`
	SigningSecret    string     `json:"signingSecret,omitempty" doc:"What the sender calls the signing secret."`
	SecretRequired   bool       `json:"secretRequired" doc:"A webhook must have a signing secret."`
	SecretFrom       string     `json:"secretFrom,omitempty" enum:"you,sender,public-key,handshake" doc:"Who makes the signing secret: you, the sender, the sender as a public key, or the sender in its handshake."`
	Signed           bool       `json:"signed" doc:"Calls are signed; otherwise they carry the secret itself, or nothing."`
	VerifyToken      bool       `json:"verifyToken" doc:"It has a handshake with a verifyToken."`
	Handshake        string     `json:"handshake,omitempty" doc:"How it sees that the URL is yours, and what is answered."`
	Dedupe           string     `json:"dedupe" doc:"Where the id of a delivery is."`
	EventType        string     `json:"eventType,omitempty" doc:"Where its calls name the kind of their event."`
	Split            string     `json:"split,omitempty" doc:"Where its calls have several events: what split auto of a webhook is."`
	Answer           AnswerForm `json:"answer" enum:"result,value,empty" doc:"What its calls are answered with unless the webhook says otherwise."`
	AnswerType       string     `json:"answerType,omitempty" doc:"The content type of that, unless it is the usual one."`
	AnswerWords      string     `json:"answerWords,omitempty" doc:"What it demands of answers, if that is more than any 200."`
	MaxPayloadLength int        `json:"maxPayloadLength" doc:"Length of the largest payload that is taken of it unless the webhook says otherwise, in bytes."`
	Retries          string     `json:"retries" doc:"How long it tries again after a failure: none, a duration such as 3d, or unknown."`
	Checked          string     `json:"checked" doc:"Date when the preset was last held against the sender's documents."`
	Setup            [3]string  `json:"setup" doc:"What to do at the sender, step by step."`
	Samples          []Sample   `json:"samples,omitempty" doc:"Events as it sends them, without a signature; lists leave them out."`
}

// TakesSecret reports whether people enter a signing secret, here or at the sender.
func (v ProviderView) TakesSecret() bool { return v.SigningSecret != "" && v.SecretFrom != "handshake" }

// Chosen reports whether people make the secret up.
func (v ProviderView) Chosen() bool { return v.SecretFrom == "you" }

// Fixed reports whether no other text than the sender's can be stored.
func (v ProviderView) Fixed() bool { return v.SecretFrom == "public-key" }

// Key is the event key that is proposed for the provider's webhook.
func (v ProviderView) Key() string { return "webhook." + v.Provider }

// A Sample is an event of a known sender, for tests.
type Sample struct {
	Name        string            `json:"name" doc:"For webhook.sign."`
	ContentType string            `json:"contentType" doc:"Of the body."`
	Headers     map[string]string `json:"headers" doc:"Further headers."`
	Body        string            `json:"body" doc:"The body."`
}

// A SignedCall is a call as the sender of a webhook would make it, as webhook.sign
// shows it.
type SignedCall struct {
	Method  string            `json:"method" doc:"Of the call."`
	URL     string            `json:"url" doc:"Where to send it."`
	Headers map[string]string `json:"headers" doc:"What to send with it."`
	Body    string            `json:"body" doc:"Its bytes as text."`
}
