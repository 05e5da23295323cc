package sender

import (
	"crypto/subtle"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sluice"
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

// answer returns the answer to a handshake, nil if the call is none.
func (h *Handshake) answer(g greeting) (*Answer, error) {
	if by := greeters[h.By]; by != nil {
		if answer := by(g); answer != nil {
			return answer, nil
		}
	}
	if h.Method != "" && h.Method != g.Method {
		return nil, nil
	}
	for at, text := range h.When {
		if at.in(g.Call) != text {
			return nil, nil
		}
	}
	if h.VerifyToken && g.verifyToken != "" &&
		subtle.ConstantTimeCompare([]byte(g.parameter("hub.verify_token")), []byte(g.verifyToken)) != 1 {
		return nil, sluice.Errorf(sluice.CodeVerifyTokenInvalid,
			"The verify token is not the one that this webhook has; enter the same one on both sides.")
	}
	switch {
	case h.Text != "":
		return plainAnswer(h.Text.in(g.Call)), nil
	case h.Empty:
		return emptyAnswer(), nil
	case h.JSON == nil:
		return nil, nil
	}
	var pairs [][2]string
	for _, name := range slices.Sorted(maps.Keys(h.JSON)) {
		pairs = append(pairs, [2]string{name, h.JSON[name].in(g.Call)})
	}
	return jsonAnswer(pairs...), nil
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
	return &Answer{Status: http.StatusOK, Header: jsonHeader(), Body: append(body, '}')}
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

func emptyAnswer() *Answer { return &Answer{Status: http.StatusOK, Header: http.Header{}} }
