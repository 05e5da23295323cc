package sender

import (
	"crypto/subtle"
	"net/http"
	"strings"
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
