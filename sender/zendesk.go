package sender

import "time"

func zendesk() Preset {
	return Preset{
		Name: "zendesk", Title: "Zendesk",
		Checks:  "X-Zendesk-Webhook-Signature: HMAC-SHA256 of time and body, in base64; at most 5 minutes old",
		Secret:  "the webhook's signing secret",
		Dedupe:  "header:X-Zendesk-Webhook-Invocation-Id",
		Retries: "3m",
		Setup: [3]string{
			"In Admin Center: Apps and integrations, Webhooks, Create webhook; Endpoint URL is the webhook's URL, Request method POST, Request format JSON.",
			"Create it, choose Reveal secret and enter the signing secret as the `signingSecret`.",
			"Subscribe to Zendesk events, or connect the webhook to a trigger. A test before it is created is signed with another secret, and refused.",
		},
		rule: &rule{
			Scheme: Scheme{
				Header: "X-Zendesk-Webhook-Signature", Encoding: "base64", Signed: "{timestamp}{body}", TimestampHeader: "X-Zendesk-Webhook-Signature-Timestamp",
			},
			layout: time.RFC3339,
		},
	}
}
