package sender

func sendgrid() Preset {
	return Preset{
		Name: "sendgrid", Title: "SendGrid",
		Checks:  "X-Twilio-Email-Event-Webhook-Signature: ECDSA of time and body, in base64; at most 5 minutes old",
		Secret:  "the verification key (a public key)",
		Dedupe:  "body:0.sg_event_id",
		Retries: "24h",
		Setup: [3]string{
			"Settings, Mail Settings, Event Webhooks, Create new webhook; Post URL is the webhook's URL.",
			"Turn Signed Event Webhook on, save, open it again and enter the Verification Key as the `signingSecret`.",
			"Choose the actions and test the integration. Only calls with a single event have an id.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "X-Twilio-Email-Event-Webhook-Signature", Algorithm: ecdsaSHA256, Encoding: "base64",
			Signed: "{timestamp}{body}", TimestampHeader: "X-Twilio-Email-Event-Webhook-Timestamp",
		}},
	}
}
