package sender

func circleci() Preset {
	return Preset{
		Name: "circleci", Title: "CircleCI",
		Checks:       "circleci-signature: HMAC-SHA256 of the body, in hex",
		Secret:       "the webhook's secret token",
		SecretChosen: true,
		Dedupe:       "body:id",
		Retries:      "unknown",
		Setup: [3]string{
			"In the project: Project Settings, Webhooks, Add Webhook; Receiver URL is the webhook's URL.",
			"Secret token is a random text, the same as the `signingSecret`. Leave certificate verification on.",
			"Choose the events, Workflow Completed or Job Completed, and test the ping.",
		},
		rule: &rule{Scheme: Scheme{Header: "Circleci-Signature", Format: "v1={signature}"}, commas: true},
	}
}
