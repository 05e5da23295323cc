package sender

// Presets returns all senders that are known, by name.
func Presets() []Preset { //nolint:funlen // a list
	return []Preset{
		adyen(),
		airtable(),
		alertmanager(),
		asana(),
		awsSNS(),
		azureEventGrid(),
		bigcommerce(),
		bitbucket(),
		box(),
		buildkite(),
		calendly(),
		chargebee(),
		circleci(),
		clerk(),
		cloudEvents(),
		discord(),
		docusign(),
		dropbox(),
		figma(),
		gitea(),
		github(),
		gitlab(),
		gocardless(),
		googlePubSub(),
		grafana(),
		hubspot(),
		intercom(),
		jira(),
		klaviyo(),
		lemonSqueezy(),
		line(),
		linear(),
		mailgun(),
		meta(),
		microsoftGraph(),
		monday(),
		mux(),
		netlify(),
		notion(),
		okta(),
		paddle(),
		pagerduty(),
		paypal(),
		pipedrive(),
		plaid(),
		postmark(),
		razorpay(),
		resend(),
		salesforce(),
		sendgrid(),
		sentry(),
		shopify(),
		slack(),
		square(),
		standardWebhooks(),
		strava(),
		stripe(),
		svix(),
		telegram(),
		trello(),
		twilio(),
		twitch(),
		typeform(),
		vercel(),
		vonage(),
		wise(),
		woocommerce(),
		x(),
		xero(),
		zendesk(),
		zoom(),
	}
}

// Find returns the preset with that name.
func Find(name string) (Preset, bool) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}
