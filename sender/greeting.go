package sender

import (
	"net/http"
	"strings"

	"sluice/value"
)

// A Handshake says what a sender sends before it calls, and what it expects in return.
type Handshake struct {
	Words       string `yaml:"words"`       // for people; "" means that there is none
	Signed      bool   `yaml:"signed"`      // as calls are
	VerifyToken bool   `yaml:"verifyToken"` // it repeats the parameter verifyToken, in hub.verify_token

	By     string           `yaml:"by"`     // one of greeters, which is asked first
	Method string           `yaml:"method"` // that it has; "" means any
	When   map[place]string `yaml:"when"`   // the texts by which it is recognised
	Text   place            `yaml:"text"`   // answered with the text that is here, or
	JSON   map[string]place `yaml:"json"`   // with an object of the texts that are there, or
	Empty  bool             `yaml:"empty"`  // with an empty body
}

// A place is where a text is in a call: header:<name>, query:<name> or body:<member.of.json>.
type place string

// in returns the text that a call has at the place, "" if there is none.
func (p place) in(c *Call) string {
	switch where, name, _ := strings.Cut(string(p), ":"); where {
	case "header":
		return c.Header.Get(name)
	case "query":
		return c.parameter(name)
	case "body":
		return c.text(strings.Split(name, ".")...)
	}
	return ""
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

func isChallenge(text string) bool { return text != "" && len(text) <= maxChallenge }

// plainAnswer repeats a challenge as text. Browsers must not take it for a page.
func plainAnswer(text string) *Answer {
	if !isChallenge(text) {
		return nil
	}
	header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}}
	return &Answer{Status: http.StatusOK, Body: []byte(text), Header: header}
}

// jsonAnswer returns an object of texts.
func jsonAnswer(texts any) *Answer {
	body, _ := value.Marshal(texts) // texts have a JSON form
	return &Answer{Status: http.StatusOK, Header: jsonHeader(), Body: body}
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

func emptyAnswer() *Answer { return &Answer{Status: http.StatusOK, Header: http.Header{}} }
