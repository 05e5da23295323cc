package sender

func paddle() Preset {
	return Preset{
		Name: "paddle", Title: "Paddle",
		Checks:  "Paddle-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:  "the notification destination's secret key (pdl_ntfset_…)",
		Dedupe:  "body:event_id",
		Retries: "3d",
		Setup: [3]string{
			"Developer tools, Notifications, New destination: type Webhook, URL is the webhook's URL.",
			"Choose the events and save the destination.",
			"Edit destination: copy the Secret key (pdl_ntfset_…) and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Paddle-Signature", Format: "ts={timestamp};h1={signature}", Signed: "{timestamp}:{body}"}},
	}
}
