package sender

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

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

// Handshake returns the answer to a call that is a handshake of the sender, nil
// if it is none. Where the sender signs its handshakes, the signature is
// checked first, with the errors of Verify. A wrong verifyToken is Forbidden.
func (v *Verifier) Handshake(ctx context.Context, c *Call, now time.Time, verifyToken string) (*Answer, error) {
	if v.preset.greet == nil {
		return nil, nil
	}
	g := greeting{Call: c, verifyToken: verifyToken}
	if len(v.secrets) > 0 {
		g.secret = v.secrets[0]
	}
	answer, err := v.preset.greet(g)
	if answer == nil || err != nil || !v.preset.greetSigned {
		return answer, err
	}
	fitting, err := v.verify(ctx, c, now)
	if err != nil {
		return nil, err
	}
	if fitting > 0 {
		g.secret = v.secrets[fitting]
		return v.preset.greet(g)
	}
	return answer, nil
}

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

func asana() Preset {
	return Preset{
		Name: "asana", Title: "Asana",
		Checks:         "X-Hook-Signature: HMAC-SHA256 of the body, in hex",
		Secret:         "learned from the first handshake",
		SecretOptional: true,
		Handshake:      "X-Hook-Secret: repeated and kept, the first time only",
		Dedupe:         "off", Retries: "24h",
		Setup: [3]string{
			"Make the webhook here first; its `signingSecret` stays empty.",
			"Create the webhook with POST https://app.asana.com/api/1.0/webhooks; target is the webhook's URL. Asana sends the secret at once, and it is kept.",
			"To set it up again, remove the `signingSecret` first. Asana gives its calls no id, so repeated ones are not recognised.",
		},
		Masked: []string{"x-hook-secret"},
		rule:   &rule{Scheme: Scheme{Header: "X-Hook-Signature"}},
		learns: true,
		greet:  greetAsana,
	}
}

// greetAsana learns the secret. A known one is only repeated, in case the first answer got
// lost.
func greetAsana(g greeting) (*Answer, error) {
	const name = "X-Hook-Secret"
	given := g.Header[name]
	if g.Method != http.MethodPost || len(given) != 1 || given[0] == "" || len(given[0]) > maxDeliveryID || !isPrintable(given[0]) {
		return nil, nil
	}
	if strings.ContainsAny(given[0], ",:") {
		return nil, nil // it would read as several secrets, or as the name of a stored one
	}
	answer := &Answer{Status: http.StatusOK, Header: http.Header{name: {given[0]}}}
	switch {
	case g.secret == "":
		answer.LearnedSecret = given[0]
	case subtle.ConstantTimeCompare([]byte(given[0]), []byte(g.secret)) != 1:
		return nil, nil
	}
	return answer, nil
}
