package sluice

// A ProviderView is a known sender as provider.get shows it.
type ProviderView struct {
	Provider         string     `json:"provider"`
	Title            string     `json:"title"`
	Checks           string     `json:"checks"`
	SigningSecret    string     `json:"signingSecret,omitempty"`
	SecretRequired   bool       `json:"secretRequired"`
	SecretFrom       string     `json:"secretFrom,omitempty" enum:"you,sender,public-key,handshake" doc:"Who makes the signing secret: you, the sender, the sender as a public key, or the sender in its handshake."`
	Signed           bool       `json:"signed" doc:"Calls are signed; otherwise they carry the secret itself, or nothing."`
	VerifyToken      bool       `json:"verifyToken"`
	Handshake        string     `json:"handshake,omitempty"`
	Dedupe           string     `json:"dedupe"`
	EventType        string     `json:"eventType,omitempty" doc:"Where its calls name the kind of their event."`
	Answer           AnswerForm `json:"answer" enum:"result,value,empty" doc:"What its calls are answered with unless the webhook says otherwise."`
	AnswerType       string     `json:"answerType,omitempty" doc:"The content type of that, unless it is the usual one."`
	AnswerWords      string     `json:"answerWords,omitempty" doc:"What it demands of answers, if that is more than any 200."`
	MaxPayloadLength int        `json:"maxPayloadLength" doc:"Length of the largest payload that is taken of it unless the webhook says otherwise, in bytes."`
	Retries          string     `json:"retries" doc:"How long it tries again after a failure: none, a duration such as 3d, or unknown."`
	Checked          string     `json:"checked" doc:"Date when the preset was last held against the sender's documents."`
	Setup            [3]string  `json:"setup"`
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
	Name        string            `json:"name"`
	ContentType string            `json:"contentType"`
	Headers     map[string]string `json:"headers" doc:"Further headers."`
	Body        string            `json:"body"`
}

// A SignedCall is a call as the sender of a webhook would make it, as webhook.sign
// shows it.
type SignedCall struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}
