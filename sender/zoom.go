package sender

import (
	"crypto/sha256"
	"encoding/hex"
)

func greetZoom(g greeting) *Answer {
	if g.text("event") != "endpoint.url_validation" {
		return nil
	}
	token := g.text("payload", "plainToken")
	sum := hex.EncodeToString(macOf(sha256.New, g.secret, token))
	return jsonAnswer([2]string{"plainToken", token}, [2]string{"encryptedToken", sum})
}
