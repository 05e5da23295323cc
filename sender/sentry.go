package sender

func sentry() Preset {
	return Preset{
		Name: "sentry", Title: "Sentry",
		Checks:  "Sentry-Hook-Signature: HMAC-SHA256 of the body, in hex",
		Secret:  "the integration's client secret",
		Dedupe:  "header:Request-ID",
		Retries: "none",
		Setup: [3]string{
			"In the organization: Settings, Developer Settings, Custom Integrations, Create New Integration, Internal; Webhook URL is the webhook's URL.",
			"Choose the resources, save, and enter the Client Secret as the `signingSecret`.",
			"For alerts, turn on Alert Rule Action and choose the integration in the rule. Sentry waits one second only.",
		},
		rule: &rule{Scheme: Scheme{Header: "Sentry-Hook-Signature"}},
	}
}
