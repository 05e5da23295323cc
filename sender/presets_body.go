package sender

// bodySigners are senders that sign the body alone, or the body and the URL.
var bodySigners = []Preset{
	{
		Name: "airtable", Title: "Airtable",
		Checks: "X-Airtable-Content-MAC: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's macSecretBase64",
		Dedupe: "off", Retries: "unknown",
		Setup: [3]string{
			"Create the webhook with POST https://api.airtable.com/v0/bases/{baseId}/webhooks; notificationUrl is the webhook's URL.",
			"Enter macSecretBase64 of the answer as the `signingSecret`: Airtable shows it only once.",
			"Calls only say that a base changed, and have no id: get the changes with GET …/webhooks/{webhookId}/payloads. Refresh the webhook every week, since it expires.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Airtable-Content-MAC", Format: "hmac-sha256={signature}"}, key: standardKey},
	}, {
		Name: "bitbucket", Title: "Bitbucket",
		Checks: "X-Hub-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's secret", SecretChosen: true,
		Dedupe: "header:X-Request-UUID", Retries: "unknown",
		Setup: [3]string{
			"In the repository: Repository settings, Webhooks, Add webhook; URL is the webhook's URL.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Choose the triggers and save. Bitbucket Data Center has its ids elsewhere: set `dedupe` to `header:X-Request-Id`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature", Format: "sha256={signature}"}},
	}, {
		Name: "circleci", Title: "CircleCI",
		Checks: "circleci-signature: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's secret token", SecretChosen: true,
		Dedupe: "body:id", Retries: "unknown",
		Setup: [3]string{
			"In the project: Project Settings, Webhooks, Add Webhook; Receiver URL is the webhook's URL.",
			"Secret token is a random text, the same as the `signingSecret`. Leave certificate verification on.",
			"Choose the events, Workflow Completed or Job Completed, and test the ping.",
		},
		rule: &rule{Scheme: Scheme{Header: "Circleci-Signature", Format: "v1={signature}"}, commas: true},
	}, {
		Name: "docusign", Title: "Docusign",
		Checks: "X-DocuSign-Signature-1, or -2 or -3 where the account has several keys: HMAC-SHA256 of the body, in base64",
		Secret: "a Connect HMAC key",
		Dedupe: "off", Retries: "15d",
		Setup: [3]string{
			"In eSignature Settings: Connect, Connect Keys, Add Secret Key; enter it as the `signingSecret`.",
			"Connect, Add Configuration, Custom; URL to Publish is the webhook's URL, Data Format is REST v2.1 JSON.",
			"Tick Include HMAC Signature, choose the events, and save. Docusign gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-DocuSign-Signature-1", Encoding: "base64"}, further: []string{"X-Docusign-Signature-2", "X-Docusign-Signature-3"}},
	}, {
		Name: "gitea", Title: "Gitea (Forgejo)",
		Checks: "X-Gitea-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's secret", SecretChosen: true,
		Dedupe: "header:X-Gitea-Delivery", Retries: "none",
		Setup: [3]string{
			"In the repository or organization: Settings, Webhooks, Add Webhook, Gitea (or Forgejo); Target URL is the webhook's URL, POST Content Type is application/json.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Choose the events, add the webhook, and test the delivery from its page.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Gitea-Signature"}},
	}, {
		Name: "github", Title: "GitHub",
		Checks: "X-Hub-Signature-256: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's secret", SecretChosen: true,
		Dedupe: "header:X-GitHub-Delivery", Retries: "none",
		Setup: [3]string{
			"In the repository or organization: Settings, Webhooks, Add webhook; Payload URL is the webhook's URL, Content type is application/json.",
			"Secret is a random text of at least 20 characters, the same as the `signingSecret`.",
			"Choose the events and add the webhook; GitHub sends a ping at once.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature-256", Format: "sha256={signature}"}},
	}, {
		Name: "gocardless", Title: "GoCardless",
		Checks: "Webhook-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the endpoint's secret", SecretChosen: true,
		Dedupe: "body:meta.webhook_id", Retries: "unknown",
		Setup: [3]string{
			"In the dashboard: Developers, Create, Webhook endpoint; URL is the webhook's URL.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Save and send a test webhook. One call has up to 250 events, in `events`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Webhook-Signature"}},
	}, {
		Name: "grafana", Title: "Grafana",
		Checks: "X-Grafana-Alerting-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the contact point's HMAC secret", SecretChosen: true,
		Dedupe: "off", Retries: "unknown",
		Setup: [3]string{
			"In Alerting, Contact points: Add contact point, Integration Webhook; URL is the webhook's URL.",
			"Optional Webhook settings, HMAC Signature: Secret is a random text, the same as the `signingSecret`; leave Header and Timestamp Header empty. It takes Grafana 12 or newer.",
			"Test it, save, and choose it in a notification policy. Grafana repeats alerts that go on, and gives its calls no id.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Grafana-Alerting-Signature"}},
	}, {
		Name: "intercom", Title: "Intercom",
		Checks: "X-Hub-Signature: HMAC-SHA1 of the body, in hex",
		Secret: "the app's client secret",
		Dedupe: "body:id", Retries: "1m",
		Setup: [3]string{
			"In the Developer Hub, your app, Basic information: enter the Client secret as the `signingSecret`.",
			"Webhooks: Endpoint URL is the webhook's URL.",
			"Choose the topics and save.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature", Format: "sha1={signature}", Algorithm: "sha1"}},
	}, {
		Name: "jira", Title: "Jira",
		Checks: "X-Hub-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's secret", SecretChosen: true,
		Dedupe: "header:X-Atlassian-Webhook-Identifier", Retries: "75m",
		Setup: [3]string{
			"In Jira: Settings, System, WebHooks, Create a WebHook; URL is the webhook's URL.",
			"Secret: generate one, or enter a random text; it is the same as the `signingSecret`.",
			"Choose the events, and a JQL filter if you want one, and create it.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature", Format: "sha256={signature}"}},
	}, {
		Name: "lemon-squeezy", Title: "Lemon Squeezy",
		Checks: "X-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's signing secret", SecretChosen: true,
		Dedupe: "off", Retries: "3m",
		Setup: [3]string{
			"In the store: Settings, Webhooks, the plus sign; Callback URL is the webhook's URL.",
			"Signing secret is a random text of 6 to 40 characters, the same as the `signingSecret`.",
			"Choose the events and save. Lemon Squeezy gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Signature"}},
	}, {
		Name: "line", Title: "LINE",
		Checks: "x-line-signature: HMAC-SHA256 of the body, in base64",
		Secret: "the channel secret",
		Dedupe: "body:events.0.webhookEventId", Retries: "none",
		Setup: [3]string{
			"In the LINE Developers Console, your channel, Basic settings: enter the Channel secret as the `signingSecret`.",
			"Messaging API: Webhook URL is the webhook's URL; verify it, and turn on Use webhook.",
			"LINE sends again only if you turn on Webhook redelivery. Calls with several events have no one id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Line-Signature", Encoding: "base64"}},
	}, {
		Name: "notion", Title: "Notion",
		Checks: "X-Notion-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the subscription's verification token",
		Dedupe: "body:id", Retries: "24h",
		Setup: [3]string{
			"Make the webhook here with a random `signingSecret`. In your integration at notion.so/profile/integrations: Webhooks, Create a subscription; its address is the webhook's URL.",
			"Notion's first call is refused: its body, in the quarantine, has the verification_token (secret_…).",
			"Enter that token at Notion with Verify, and as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Notion-Signature", Format: "sha256={signature}"}},
	}, {
		Name: "pagerduty", Title: "PagerDuty",
		Checks: "X-PagerDuty-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the subscription's secret",
		Dedupe: "body:event.id", Retries: "unknown",
		Setup: [3]string{
			"In PagerDuty: Integrations, Generic Webhooks (v3), New Webhook; Webhook URL is the webhook's URL.",
			"Choose the scope and the events and add it.",
			"Copy the secret, which is shown once, and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Pagerduty-Signature", Format: "v1={signature}"}, commas: true},
	}, {
		Name: "razorpay", Title: "Razorpay",
		Checks: "X-Razorpay-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the webhook's secret", SecretChosen: true,
		Dedupe: "header:X-Razorpay-Event-Id", Retries: "24h",
		Setup: [3]string{
			"In the dashboard: Account & Settings, Webhooks, Add New Webhook; Webhook URL is the webhook's URL.",
			"Secret is a random text, the same as the `signingSecret`.",
			"Choose the active events and create the webhook.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Razorpay-Signature"}},
	}, {
		Name: "sentry", Title: "Sentry",
		Checks: "Sentry-Hook-Signature: HMAC-SHA256 of the body, in hex",
		Secret: "the integration's client secret",
		Dedupe: "header:Request-ID", Retries: "none",
		Setup: [3]string{
			"In the organization: Settings, Developer Settings, Custom Integrations, Create New Integration, Internal; Webhook URL is the webhook's URL.",
			"Choose the resources, save, and enter the Client Secret as the `signingSecret`.",
			"For alerts, turn on Alert Rule Action and choose the integration in the rule. Sentry waits one second only.",
		},
		rule: &rule{Scheme: Scheme{Header: "Sentry-Hook-Signature"}},
	}, {
		Name: "shopify", Title: "Shopify",
		Checks: "X-Shopify-Hmac-SHA256: HMAC-SHA256 of the body, in base64",
		Secret: "the app's client secret, or the key below the list of the shop's webhooks",
		Dedupe: "header:X-Shopify-Webhook-Id", Retries: "4h",
		Setup: [3]string{
			"In the admin: Settings, Notifications, Webhooks, Create webhook; format JSON. Apps subscribe in shopify.app.toml or by the API instead.",
			"URL (or uri) is the webhook's URL.",
			"The signing key is shown below the list of webhooks (an app has its client secret instead): enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Shopify-Hmac-Sha256", Encoding: "base64"}},
	}, {
		Name: "square", Title: "Square",
		Checks: "x-square-hmacsha256-signature: HMAC-SHA256 of URL and body, in base64",
		Secret: "the subscription's signature key",
		Dedupe: "body:event_id", Retries: "24h",
		Setup: [3]string{
			"In the Developer Console, your application, Webhooks, Subscriptions: Add subscription; URL is the webhook's URL.",
			"Choose the events, save, and enter the Signature key of the subscription as the `signingSecret`.",
			"The server must be told its public URL (`--public-url`), since Square signs the URL as it was entered.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Square-Hmacsha256-Signature", Encoding: "base64", Signed: "{url}{body}"}},
	}, {
		Name: "typeform", Title: "Typeform",
		Checks: "Typeform-Signature: HMAC-SHA256 of the body, in base64",
		Secret: "the webhook's secret", SecretChosen: true,
		Dedupe: "body:event_id", Retries: "10h",
		Setup: [3]string{
			"In the form: Connect, Webhooks, Add a webhook; Endpoint is the webhook's URL.",
			"Edit, Secret is a random text, the same as the `signingSecret`.",
			"Turn the webhook on and send a test request.",
		},
		rule: &rule{Scheme: Scheme{Header: "Typeform-Signature", Format: "sha256={signature}", Encoding: "base64"}},
	}, {
		Name: "vercel", Title: "Vercel",
		Checks: "x-vercel-signature: HMAC-SHA1 of the body, in hex",
		Secret: "the webhook's secret",
		Dedupe: "body:id", Retries: "24h",
		Setup: [3]string{
			"In the team: Settings, Webhooks; choose the events and projects. Endpoint URL is the webhook's URL.",
			"Create the webhook; its secret is shown once: enter it as the `signingSecret`.",
			"For an integration the secret is its Client Secret.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Vercel-Signature", Algorithm: "sha1"}},
	}, {
		Name: "wise", Title: "Wise",
		Checks: "X-Signature-SHA256: RSA-SHA256 of the body, in base64",
		Secret: "Wise's public key, in PEM",
		Dedupe: "header:X-Delivery-Id", Retries: "14d",
		Setup: [3]string{
			"Enter Wise's public key of your environment (docs.wise.com, Webhooks, Signature verification) as the `signingSecret`.",
			"In Wise: Settings, Developer tools, Webhooks, Create new webhook; Webhook URL is the webhook's URL.",
			"Choose the events and test it: Wise sends a test event first, and takes the URL only if that is accepted.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Signature-SHA256", Algorithm: rsaSHA256, Encoding: "base64"}},
	}, {
		Name: "xero", Title: "Xero",
		Checks: "x-xero-signature: HMAC-SHA256 of the body, in base64",
		Secret: "the app's webhooks key",
		Dedupe: "off", Retries: "24h",
		Setup: [3]string{
			"At developer.xero.com, your app, Webhooks: choose the events; Delivery URL is the webhook's URL.",
			"Save, copy the Webhooks key and enter it as the `signingSecret`.",
			"Send 'Intent to receive': Xero sends good and forged calls and expects 200 and 401. Calls have no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Xero-Signature", Encoding: "base64"}},
	},
}
