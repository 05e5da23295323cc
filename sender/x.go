package sender

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
)

// xChallenge matches the challenges of X. We sign them with the key of the calls, even for
// strangers; so no call may have such a body. The bodies of real calls are objects.
var xChallenge = regexp.MustCompile(`^[A-Za-z0-9_=-]{1,128}$`)

func greetX(g greeting) *Answer {
	token := g.parameter("crc_token")
	if g.Method != http.MethodGet || !xChallenge.MatchString(token) {
		return nil
	}
	sum := macOf(sha256.New, g.secret, token)
	return jsonAnswer([2]string{"response_token", "sha256=" + base64.StdEncoding.EncodeToString(sum)})
}
