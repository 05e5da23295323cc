package sender

import (
	"context"
	"crypto/subtle"
	"net/http"
	"time"

	"sluice/value"
)

func microsoftGraph() Preset {
	return Preset{
		Name: "microsoft-graph", Title: "Microsoft Graph",
		Checks:   "clientState of each notification, if a secret is set; nothing is signed",
		Unsigned: true,
		Secret:   "the clientState of the subscription", SecretChosen: true,
		SecretOptional: true,
		Handshake:      "POST with validationToken: it is repeated",
		Dedupe:         "body:value.0.id", Retries: "4h",
		Setup: [3]string{
			"Create the subscription with POST https://graph.microsoft.com/v1.0/subscriptions; notificationUrl is the webhook's URL.",
			"clientState is a random text of at most 128 characters, the same as the `signingSecret`.",
			"lifecycleNotificationUrl may be the same URL. Renew the subscription before its expirationDateTime.",
		},
		checker: func(secret string, _ Keys) (checker, error) { return graphCheck{secret}, nil },
		greet: func(g greeting) (*Answer, error) {
			if g.Method != http.MethodPost {
				return nil, nil
			}
			return plainAnswer(g.parameter("validationToken")), nil
		},
	}
}

type graphCheck struct{ clientState string }

// check decodes only what it looks for: a stranger may have sent the rest.
func (g graphCheck) check(_ context.Context, c *Call, _ time.Time) error {
	none := true
	for item := range elements(lookup(c.Body, []string{"value"})) {
		none = false
		state := lookup(item, []string{"clientState"})
		if len(state) == 0 || state[0] != '"' {
			return missing("A notification has no clientState.")
		}
		if subtle.ConstantTimeCompare([]byte(scalar(state)), []byte(g.clientState)) != 1 {
			return invalid("The clientState of a notification is another one.")
		}
	}
	if none {
		return missing("The body has no notification with a clientState.")
	}
	return nil
}

func (g graphCheck) sign(c *Call, _ time.Time) (err error) {
	decoded, _ := value.Decode(c.Body) // nil: it has no notifications
	whole, _ := decoded.(map[string]any)
	each, _ := whole["value"].([]any)
	if len(each) == 0 {
		return notAnObject()
	}
	for _, item := range each {
		if n, ok := item.(map[string]any); ok {
			n["clientState"] = g.clientState
		}
	}
	c.Body, err = value.Marshal(whole)
	return err
}
