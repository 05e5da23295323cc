package sender

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"

	"sluice/value"
)

// maxLearned bounds a secret that the sender sends.
const maxLearned = 256

// greetAsana learns the secret. A known one is only repeated, in case the first answer got
// lost.
func greetAsana(g greeting) *Answer {
	const name = "X-Hook-Secret"
	if g.Method != http.MethodPost || len(g.Header[name]) != 1 {
		return nil
	}
	given := g.Header[name][0]
	if given == "" || len(given) > maxLearned || !isPrintable(given) {
		return nil
	}
	if strings.ContainsAny(given, ",:") {
		return nil // it would read as several secrets, or as the name of a stored one
	}
	answer := &Answer{Status: http.StatusOK, Header: http.Header{name: {given}}}
	switch {
	case g.secret == "":
		answer.LearnedSecret = given
	case subtle.ConstantTimeCompare([]byte(given), []byte(g.secret)) != 1:
		return nil
	}
	return answer
}

// greetDiscord answers PING: that of webhook events with 204, that of interactions with PONG.
func greetDiscord(g greeting) *Answer {
	kind := string(value.Lookup(g.Body, "type"))
	switch {
	case g.Method != http.MethodPost:
	case kind == "0":
		return &Answer{Status: http.StatusNoContent, Header: jsonHeader()}
	case kind == "1" && value.Lookup(g.Body, "event") == nil:
		return &Answer{Status: http.StatusOK, Header: jsonHeader(), Body: []byte(`{"type":1}`)}
	}
	return nil
}

// wooPing is the body of the ping that a saved webhook sends.
var wooPing = regexp.MustCompile(`^webhook_id=\d{1,20}$`)

func greetWooCommerce(g greeting) *Answer {
	if !wooPing.Match(g.Body) {
		return nil
	}
	return emptyAnswer()
}

// xChallenge matches the challenges of X. We sign them with the key of the calls, even for
// strangers; so no call may have such a body. The bodies of real calls are objects.
var xChallenge = regexp.MustCompile(`^[A-Za-z0-9_=-]{1,128}$`)

func greetX(g greeting) *Answer {
	token := g.parameter("crc_token")
	if g.Method != http.MethodGet || !xChallenge.MatchString(token) {
		return nil
	}
	sum := macOf(sha256.New, g.secret, token)
	return jsonAnswer(map[string]string{"response_token": "sha256=" + base64.StdEncoding.EncodeToString(sum)})
}

func greetZoom(g greeting) *Answer {
	token := g.text("payload", "plainToken")
	if g.text("event") != "endpoint.url_validation" || !isChallenge(token) {
		return nil
	}
	return jsonAnswer(struct {
		Plain     string `json:"plainToken"`
		Encrypted string `json:"encryptedToken"`
	}{token, hex.EncodeToString(macOf(sha256.New, g.secret, token))})
}
