package sender

import "time"

func box() Preset {
	return Preset{
		Name: "box", Title: "Box",
		Checks:  "BOX-SIGNATURE-PRIMARY: HMAC-SHA256 of body and time, in base64; at most 10 minutes old",
		Secret:  "the app's primary signature key",
		Dedupe:  "body:id",
		Retries: "unknown",
		Setup: [3]string{
			"In the Developer Console, your app, Webhooks, Manage signature keys: generate the primary key and enter it as the `signingSecret`.",
			"Create the webhook there or with POST https://api.box.com/2.0/webhooks; address is the webhook's URL.",
			"While the key is being changed, enter both, separated by a comma.",
		},
		rule: &rule{
			Scheme: Scheme{
				Header: "Box-Signature-Primary", Encoding: "base64", Signed: "{body}{timestamp}", TimestampHeader: "Box-Delivery-Timestamp", Tolerance: "10m",
			},
			layout: time.RFC3339,
		},
	}
}
