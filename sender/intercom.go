package sender

func intercom() Preset {
	return Preset{
		Name: "intercom", Title: "Intercom",
		Checks:  "X-Hub-Signature: HMAC-SHA1 of the body, in hex",
		Secret:  "the app's client secret",
		Dedupe:  "body:id",
		Retries: "1m",
		Setup: [3]string{
			"In the Developer Hub, your app, Basic information: enter the Client secret as the `signingSecret`.",
			"Webhooks: Endpoint URL is the webhook's URL.",
			"Choose the topics and save.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature", Format: "sha1={signature}", Algorithm: "sha1"}},
	}
}
