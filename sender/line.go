package sender

func line() Preset {
	return Preset{
		Name: "line", Title: "LINE",
		Checks:  "x-line-signature: HMAC-SHA256 of the body, in base64",
		Secret:  "the channel secret",
		Dedupe:  "body:events.0.webhookEventId",
		Retries: "none",
		Setup: [3]string{
			"In the LINE Developers Console, your channel, Basic settings: enter the Channel secret as the `signingSecret`.",
			"Messaging API: Webhook URL is the webhook's URL; verify it, and turn on Use webhook.",
			"LINE sends again only if you turn on Webhook redelivery. Calls with several events have no one id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Line-Signature", Encoding: "base64"}},
	}
}
