package administration

import (
	"regexp"

	"sluice/portal/page"

	"sluice"
)

type outputPart struct {
	Text string
	Mask string // shown in its place until people ask for it; "" if it is no secret
}

// secretInOutput matches tokens and secrets.
var secretInOutput = regexp.MustCompile(`"(?:uuid|token|secret|verifyToken)": "([^"]+)"|(?:[?&]token=|/hook/)([\w-]+)`)

// partsOf splits an output at its secrets, so that nobody reads them over a shoulder or
// in a screenshot.
func partsOf(output string) (parts []outputPart) {
	done := 0
	for _, found := range secretInOutput.FindAllStringSubmatchIndex(output, -1) {
		begin, end := found[2], found[3]
		if begin < 0 {
			begin, end = found[4], found[5]
		}
		secret := outputPart{Text: output[begin:end], Mask: "••••••••"}
		if sluice.IsToken(secret.Text) { // people know tokens by their ends
			secret.Mask = page.HiddenToken(secret.Text)
		}
		parts = append(parts, outputPart{Text: output[done:begin]}, secret)
		done = end
	}
	return append(parts, outputPart{Text: output[done:]})
}
