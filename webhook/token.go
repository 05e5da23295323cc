package webhook

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"sluice"
)

// canonical returns a token as it is stored. A text that can't be a token stays
// unchanged and matches none.
func canonical(token string) string {
	return strings.ToLower(token)
}

// tokenLength is how many characters a token has.
const tokenLength = 36

// wellFormed reports whether a token can be one of ours: in upper or lower case, and
// no other spelling of a UUID.
func wellFormed(token string) bool {
	return len(token) == tokenLength && uuid.Validate(token) == nil
}

// requestToken returns the token in the query and the header of a request, ""
// if there is none. They may repeat each other and nothing else.
func requestToken(q query, header http.Header) (string, error) {
	return agree(q.all("token"), q.all("uuid"), header["Token"], header["Uuid"])
}

// agree returns the one token that all places name. Two values in one place are
// ambiguous even if they are equal.
func agree(places ...[]string) (string, error) {
	token := ""
	for _, values := range places {
		if len(values) == 0 || len(values) == 1 && values[0] == "" {
			continue
		}
		if len(values) > 1 || token != "" && canonical(values[0]) != canonical(token) {
			return "", ambiguous()
		}
		token = values[0]
	}
	return token, nil
}

// challenge says how to send a token.
var challenge = []string{`Webhook realm="webhook.receive", parameter="token"`}

func missing() error {
	return sluice.Errorf(sluice.CodeTokenMissing, "The call carries no token; send it as the header token, as the query parameter token, or in the body.").Challenging(challenge...)
}

func unknown() *sluice.Error {
	return sluice.Errorf(sluice.CodeTokenInvalid, "No webhook has this token; check the webhookUrl that webhook.put or webhook.get shows.").Challenging(challenge...)
}

func ambiguous() error {
	return sluice.Errorf(sluice.CodeTokenAmbiguous, "The call carries more than one token; send it in one place, once.")
}
