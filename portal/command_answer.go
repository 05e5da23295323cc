package portal

import (
	"regexp"

	"sluice"
)

// An answerPart is a part of what a command answered.
type answerPart struct {
	Text string
	Mask string // what is shown in its place until people ask for it; "" if it is no secret
}

// secretInAnswer is where answers have tokens and secrets.
var secretInAnswer = regexp.MustCompile(`"(?:uuid|secret|verifyToken)": "([^"]+)"|[?&]token=([\w-]+)`)

// partsOf cuts an answer where it has secrets, so that nobody reads them over a
// shoulder or in a picture of the screen.
func partsOf(answer string) (pieces []answerPart) {
	done := 0
	for _, found := range secretInAnswer.FindAllStringSubmatchIndex(answer, -1) {
		begin, end := found[2], found[3]
		if begin < 0 {
			begin, end = found[4], found[5]
		}
		secret := answerPart{Text: answer[begin:end], Mask: "••••••••"}
		if sluice.IsToken(secret.Text) { // people know tokens by their ends
			secret.Mask = hiddenToken(secret.Text)
		}
		pieces = append(pieces, answerPart{Text: answer[done:begin]}, secret)
		done = end
	}
	return append(pieces, answerPart{Text: answer[done:]})
}
