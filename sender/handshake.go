package sender

import (
	"crypto/subtle"

	"sluice"
)

// greeters answer handshakes that are more than a text to repeat; nil if a call is none. Presets
// name them: by their sender, unless several share one.
var greeters = map[string]func(greeting) *Answer{
	"asana":       greetAsana,
	"aws-sns":     greetSNS,
	"discord":     greetDiscord,
	"origin":      greetOrigin,
	"woocommerce": greetWooCommerce,
	"x":           greetX,
	"zoom":        greetZoom,
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
		return nil, sluice.CodeVerifyTokenInvalid.Errorf(
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
	texts := make(map[string]string)
	for name, at := range h.JSON {
		if texts[name] = at.in(g.Call); !isChallenge(texts[name]) {
			return nil, nil
		}
	}
	return jsonAnswer(texts), nil
}
