package sender

func buildkite() Preset {
	return Preset{
		Name: "buildkite", Title: "Buildkite",
		Checks:  "X-Buildkite-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:  "the notification service's token",
		Dedupe:  "off",
		Retries: "unknown",
		Setup: [3]string{
			"In the organization: Settings, Notification Services, Add Webhook; Webhook URL is the webhook's URL.",
			"Choose: Send an HMAC signature in the X-Buildkite-Signature header. Enter the Token as the `signingSecret`.",
			"Choose events and pipelines, then add it. Buildkite gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Buildkite-Signature", Format: "timestamp={timestamp},signature={signature}", Signed: "{timestamp}.{body}"}},
	}
}
