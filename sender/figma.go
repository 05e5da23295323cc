package sender

import (
	"context"
	"crypto/subtle"
	"time"
)

func figma() Preset {
	return Preset{
		Name: "figma", Title: "Figma",
		Checks:   "passcode in the body: the secret itself; nothing is signed",
		Unsigned: true,
		Secret:   "the webhook's passcode", SecretChosen: true,
		Dedupe: "off", Retries: "3h35m",
		Setup: [3]string{
			"Create the webhook with POST https://api.figma.com/v2/webhooks; endpoint is the webhook's URL.",
			"passcode is a random text of at most 100 characters, the same as the `signingSecret`.",
			"event_type, context and context_id say what to be told of; Figma sends a PING at once. Its calls have no id, so repeated ones are not recognised.",
		},
		checker: func(secret string, _ Keys) (checker, error) { return passcodeCheck{secret}, nil },
	}
}

type passcodeCheck struct{ passcode string }

func (p passcodeCheck) check(_ context.Context, c *Call, _ time.Time) error {
	given := lookup(c.Body, []string{"passcode"})
	if len(given) == 0 || given[0] != '"' {
		return missing("The body has no passcode.")
	}
	if subtle.ConstantTimeCompare([]byte(scalar(given)), []byte(p.passcode)) != 1 {
		return invalid("The passcode in the body is another one.")
	}
	return nil
}

func (p passcodeCheck) sign(c *Call, _ time.Time) (err error) {
	c.Body, err = putMember(c.Body, "passcode", p.passcode)
	return err
}
