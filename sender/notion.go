package sender

func notion() Preset {
	return Preset{
		Name: "notion", Title: "Notion",
		Checks:  "X-Notion-Signature: HMAC-SHA256 of the body, in hex",
		Secret:  "the subscription's verification token",
		Dedupe:  "body:id",
		Retries: "24h",
		Setup: [3]string{
			"Make the webhook here with a random `signingSecret`. In your integration at notion.so/profile/integrations: Webhooks, Create a subscription; its address is the webhook's URL.",
			"Notion's first call is refused: its body, in the quarantine, has the verification_token (secret_…).",
			"Enter that token at Notion with Verify, and as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Notion-Signature", Format: "sha256={signature}"}},
	}
}
