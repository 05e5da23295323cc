package sender

import "time"

func linear() Preset {
	return Preset{
		Name: "linear", Title: "Linear",
		Checks:  "Linear-Signature: HMAC-SHA256 of the body, in hex; webhookTimestamp in it at most a minute old",
		Secret:  "the webhook's signing secret",
		Dedupe:  "header:Linear-Delivery",
		Retries: "7h",
		Setup: [3]string{
			"In the workspace: Settings, Administration, API, New webhook; URL is the webhook's URL.",
			"Copy the signing secret of the webhook and enter it as the `signingSecret`.",
			"Choose teams and the changes to be told of, then create the webhook.",
		},
		rule: &rule{
			Scheme: Scheme{Header: "Linear-Signature", Tolerance: "1m"},
			time: func(c *Call) (string, error) {
				if raw := lookup(c.Body, []string{"webhookTimestamp"}); raw != nil {
					return string(raw), nil
				}
				return "", invalid("The body has no webhookTimestamp.")
			},
			stamp: func(c *Call, now time.Time) (err error) {
				if lookup(c.Body, []string{"webhookTimestamp"}) == nil {
					c.Body, err = putMember(c.Body, "webhookTimestamp", now.UnixMilli())
				}
				return err
			},
		},
	}
}
