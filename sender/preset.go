package sender

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"sluice/value"

	"sluice"
)

// A Preset is a sender that is known: what it does, in words and in code.
type Preset struct {
	Name           string    // as the parameter provider has it
	Title          string    // as its makers write it
	Checks         string    // what is checked of each call
	Secret         string    // what the signing secret is; "" means that there is none
	SecretOptional bool      // it works without a secret, too
	SecretChosen   bool      // people make the secret up, and enter it at the sender
	Unsigned       bool      // calls carry the secret itself, or nothing
	Handshake      string    // what it sends before calls; "" means nothing
	VerifyToken    bool      // the handshake repeats the parameter verifyToken
	Dedupe         string    // where the id of a delivery is, as the parameter dedupe has it
	Answers        Answers   // what it demands of answers
	Retries        string    // how long it goes on after a failure: none, a duration such as 3d, or unknown
	Setup          [3]string // what to enter where
	Masked         []string  // headers that carry a secret itself, in lower case

	rule    *rule                                           // how it signs, or
	checker func(secret string, keys Keys) (checker, error) // what checks it
	public  bool                                            // checked by public keys, with a secret or without
	learns  bool                                            // the secret comes with the handshake

	greet       func(greeting) (*Answer, error) // answers its handshake
	greetSigned bool                            // its handshake is signed
}

func (p Preset) checkerOf(secret string, keys Keys) (checker, error) {
	if p.rule != nil {
		return p.rule.checker(secret, keys)
	}
	return p.checker(secret, keys)
}

// Where the signing secret of a sender comes from.
const (
	SecretFromYou       = "you"        // the person who sets the webhook up makes it up
	SecretFromSender    = "sender"     // the sender shows it, perhaps only when it has the URL
	SecretFromPublicKey = "public-key" // likewise, and no other text will do
	SecretFromHandshake = "handshake"  // the sender sends it
)

// SecretFrom returns where the signing secret comes from, "" if there is none.
func (p Preset) SecretFrom() string {
	switch {
	case p.Secret == "":
		return ""
	case p.learns:
		return SecretFromHandshake
	case p.SecretChosen:
		return SecretFromYou
	case p.rule != nil && isAsymmetric(p.rule.Algorithm):
		return SecretFromPublicKey
	}
	return SecretFromSender
}

// Keys gets the public keys that senders publish.
type Keys interface {
	// Get returns the content of an address, not older than maxAge. What stands behind a #
	// is sent there as JSON, by POST. Unavailable if the address can't be read now. Once ctx
	// has ended, nobody is asked: what is known counts.
	Get(ctx context.Context, address string, maxAge time.Duration) ([]byte, error)
}

// A checker recognises calls of a sender, by one secret.
type checker interface {
	// check returns nil if the sender made the call, otherwise an error with
	// one of the codes signature-missing, signature-invalid, signature-expired.
	// The signature is checked before its time.
	check(ctx context.Context, c *Call, now time.Time) error

	// sign changes a call so that check accepts it.
	sign(c *Call, now time.Time) error
}

func notSignable() *sluice.Error {
	return sluice.Errorf(sluice.CodeNotSignable, "Calls of this sender can't be signed here, since only the sender has the key for that.")
}

// An Answer is the answer that a sender expects to its handshake, byte for byte.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	LearnedSecret string // if not empty, the caller must store it durably before answering
	Fetch         string // if not empty, the caller must GET this URL successfully before answering
}

// A greeting is a call that may be a handshake.
type greeting struct {
	*Call

	secret      string // the webhook's own, "" if there is none
	verifyToken string
}

// maxChallenge bounds the text that a stranger can make us repeat.
const maxChallenge = 4 << 10

// plainAnswer repeats a challenge as text. Browsers must not take it for a page.
func plainAnswer(text string) *Answer {
	if text == "" || len(text) > maxChallenge {
		return nil
	}
	header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}}
	return &Answer{Status: http.StatusOK, Body: []byte(text), Header: header}
}

// jsonAnswer returns an object of texts, as pairs of names and values.
func jsonAnswer(pairs ...[2]string) *Answer {
	body := []byte{'{'}
	for i, pair := range pairs {
		name, text := pair[0], pair[1]
		if text == "" || len(text) > maxChallenge {
			return nil
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(value.AppendString(body, name), ':')
		body = value.AppendString(body, text)
	}
	return &Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: append(body, '}')}
}

// hubChallenge returns the challenge of a subscription as Meta and Strava send it, "" if
// the call is no subscription.
func (g greeting) hubChallenge() (string, error) {
	if g.Method != http.MethodGet || g.parameter("hub.mode") != "subscribe" {
		return "", nil
	}
	given := g.parameter("hub.verify_token")
	if g.verifyToken != "" && subtle.ConstantTimeCompare([]byte(given), []byte(g.verifyToken)) != 1 {
		return "", sluice.Errorf(sluice.CodeVerifyTokenInvalid, "The verify token is not the one that this webhook has; enter the same one on both sides.")
	}
	return g.parameter("hub.challenge"), nil
}

// originAnswer answers whether the webhook accepts calls of an origin
// (CloudEvents, HTTP 1.1 Web Hooks, 4).
func (g greeting) originAnswer() *Answer {
	origin := g.Header.Get("Webhook-Request-Origin")
	if g.Method != http.MethodOptions || !hostName.MatchString(origin) {
		return nil
	}
	header := http.Header{"Allow": {http.MethodPost}, "Webhook-Allowed-Origin": {origin}}
	if g.Header.Get("Webhook-Request-Rate") != "" {
		header.Set("Webhook-Allowed-Rate", "*")
	}
	return &Answer{Status: http.StatusOK, Header: header}
}

// hostName matches the host of an origin.
var hostName = regexp.MustCompile(`^[0-9A-Za-z._:-]{1,253}$`)

// text returns a text in the body by its path, "" if there is none.
func (c *Call) text(path ...string) string {
	var text string
	_ = json.Unmarshal(lookup(c.Body, path), &text) // what is no text is none
	return text
}

// Answers are how calls are answered.
type Answers struct {
	Form  sluice.AnswerForm // "": as usual
	Type  string            // content type of values; "": as usual
	None  string            // body where there is no value
	Texts bool              // only texts are values
	Late  bool              // where pipelines are not done in time, there is no value, rather than a result
	Words string            // what a sender demands, for people
}

// Of returns the answer to a call, and sets its content type; a nil body means that the answer
// is the result itself.
func (a Answers) Of(result *sluice.Result, header http.Header) (status int, body []byte) {
	late := result.Status == sluice.StatusProcessing
	switch {
	case a.Form == sluice.AnswerEmpty || a.Form == sluice.AnswerValue && late && a.Late:
		return a.none(header)
	case a.Form != sluice.AnswerValue:
		return http.StatusOK, nil
	case late:
		return http.StatusAccepted, nil
	case result.Error != nil:
		text, err := value.Marshal(result.Error)
		if err != nil {
			panic(err) // it has texts and numbers alone
		}
		header["Content-Type"] = []string{"application/problem+json"}
		return result.Error.Status, text
	case result.Unheard || len(result.Value) == 0 || bytes.Equal(result.Value, []byte("null")):
		return a.none(header)
	}
	var text string
	if result.Value[0] == '"' && json.Unmarshal(result.Value, &text) == nil {
		header["Content-Type"] = []string{cmp.Or(a.Type, "text/plain; charset=utf-8")}
		return http.StatusOK, []byte(text)
	}
	if a.Texts {
		return a.none(header)
	}
	header["Content-Type"] = []string{cmp.Or(a.Type, "application/json")}
	return http.StatusOK, result.Value
}

// none is the answer where there is no value.
func (a Answers) none(header http.Header) (status int, body []byte) {
	if a.None != "" {
		header["Content-Type"] = []string{cmp.Or(a.Type, "text/plain; charset=utf-8")}
	}
	return http.StatusOK, []byte(a.None)
}
