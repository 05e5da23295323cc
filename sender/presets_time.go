package sender

import (
	"strings"
	"time"
)

// timeSigners are senders that sign a time with the body, so that nobody can send a captured
// call again.
var timeSigners = []Preset{
	{
		Name: "box", Title: "Box",
		Checks: "BOX-SIGNATURE-PRIMARY: HMAC-SHA256 of body and time, in base64; at most 10 minutes old",
		Secret: "the app's primary signature key",
		Dedupe: "body:id", Retries: "unknown",
		Setup: [3]string{
			"In the Developer Console, your app, Webhooks, Manage signature keys: generate the primary key and enter it as the `signingSecret`.",
			"Create the webhook there or with POST https://api.box.com/2.0/webhooks; address is the webhook's URL.",
			"While the key is being changed, enter both, separated by a comma.",
		},
		rule: &rule{
			Scheme: Scheme{
				Header: "Box-Signature-Primary", Encoding: "base64", Signed: "{body}{timestamp}", TimestampHeader: "Box-Delivery-Timestamp", Tolerance: "10m",
			},
			layout: time.RFC3339,
		},
	}, {
		Name: "buildkite", Title: "Buildkite",
		Checks: "X-Buildkite-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret: "the notification service's token",
		Dedupe: "off", Retries: "unknown",
		Setup: [3]string{
			"In the organization: Settings, Notification Services, Add Webhook; Webhook URL is the webhook's URL.",
			"Choose: Send an HMAC signature in the X-Buildkite-Signature header. Enter the Token as the `signingSecret`.",
			"Choose events and pipelines, then add it. Buildkite gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Buildkite-Signature", Format: "timestamp={timestamp},signature={signature}", Signed: "{timestamp}.{body}"}},
	}, {
		Name: "calendly", Title: "Calendly",
		Checks: "Calendly-Webhook-Signature: HMAC-SHA256 of time and body, in hex; at most 3 minutes old",
		Secret: "the subscription's signing key", SecretChosen: true,
		Dedupe: "off", Retries: "24h",
		Setup: [3]string{
			"Create the subscription with POST https://api.calendly.com/webhook_subscriptions; url is the webhook's URL.",
			"signing_key is a random text, the same as the `signingSecret`.",
			"Choose scope and events. Calendly gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "Calendly-Webhook-Signature", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}", Tolerance: "3m",
		}},
	}, {
		Name: "clerk", Title: "Clerk",
		Checks: "svix-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret: "the endpoint's signing secret (whsec_…)",
		Dedupe: "header:svix-id", Retries: "28h",
		Setup: [3]string{
			"In the Clerk Dashboard: Configure, Webhooks, Add Endpoint; Endpoint URL is the webhook's URL.",
			"Choose the events and create it.",
			"Copy the signing secret (whsec_…) of the new endpoint and enter it as the `signingSecret`.",
		},
		rule: standardRule("svix"),
	}, {
		Name: "hubspot", Title: "HubSpot",
		Checks: "X-HubSpot-Signature-v3: HMAC-SHA256 of method, URL, body and time, in base64; at most 5 minutes old",
		Secret: "the app's client secret",
		Dedupe: "off", Retries: "24h",
		Setup: [3]string{
			"In your app, Auth: enter the Client secret as the `signingSecret`.",
			"Webhooks: Target URL is the webhook's URL; create and activate the subscriptions. Events of a call have no id that is unique.",
			"The server must be told its public URL (`--public-url`), since HubSpot signs the URL as it was entered.",
		},
		rule: &rule{
			Scheme: Scheme{
				Header: "X-HubSpot-Signature-v3", Encoding: "base64", Signed: "{method}{url}{body}{timestamp}", TimestampHeader: "X-HubSpot-Request-Timestamp",
			},
			url:   strings.NewReplacer(hubspotEscapes()...).Replace,
			milli: true,
		},
	}, {
		Name: "klaviyo", Title: "Klaviyo",
		Checks: "Klaviyo-Signature: HMAC-SHA256 of body and time, in hex; at most 5 minutes old",
		Secret: "the webhook's secret key", SecretChosen: true,
		Dedupe: "off", Retries: "unknown",
		Setup: [3]string{
			"In Klaviyo: Integrations, Developers, Webhooks, Create webhook; Endpoint URL is the webhook's URL.",
			"Secret key is a random text of at least 16 characters, the same as the `signingSecret`.",
			"Choose the topics. One call has several events, in `data`; each has an external_id.",
		},
		rule: &rule{Scheme: Scheme{Header: "Klaviyo-Signature", Signed: "{body}{timestamp}", TimestampHeader: "Klaviyo-Timestamp"}},
	}, {
		Name: "linear", Title: "Linear",
		Checks: "Linear-Signature: HMAC-SHA256 of the body, in hex; webhookTimestamp in it at most a minute old",
		Secret: "the webhook's signing secret",
		Dedupe: "header:Linear-Delivery", Retries: "7h",
		Setup: [3]string{
			"In the workspace: Settings, Administration, API, New webhook; URL is the webhook's URL.",
			"Copy the signing secret of the webhook and enter it as the `signingSecret`.",
			"Choose teams and the changes to be told of, then create the webhook.",
		},
		rule: &rule{
			Scheme: Scheme{Header: "Linear-Signature", Tolerance: "1m"},
			time: func(c *Call) (string, error) {
				if raw := lookup(c.Body, []string{"webhookTimestamp"}); raw != nil {
					return string(raw), nil
				}
				return "", invalid("The body has no webhookTimestamp.")
			},
			stamp: func(c *Call, now time.Time) (err error) {
				if lookup(c.Body, []string{"webhookTimestamp"}) == nil {
					c.Body, err = putMember(c.Body, "webhookTimestamp", now.UnixMilli())
				}
				return err
			},
		},
	}, {
		Name: "mux", Title: "Mux",
		Checks: "Mux-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret: "the webhook's signing secret",
		Dedupe: "body:id", Retries: "24h",
		Setup: [3]string{
			"In the dashboard: Settings, Webhooks, Create new webhook, for the right environment.",
			"URL to notify is the webhook's URL.",
			"Show the Signing Secret of the new webhook and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Mux-Signature", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}"}},
	}, {
		Name: "paddle", Title: "Paddle",
		Checks: "Paddle-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret: "the notification destination's secret key (pdl_ntfset_…)",
		Dedupe: "body:event_id", Retries: "3d",
		Setup: [3]string{
			"Developer tools, Notifications, New destination: type Webhook, URL is the webhook's URL.",
			"Choose the events and save the destination.",
			"Edit destination: copy the Secret key (pdl_ntfset_…) and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Paddle-Signature", Format: "ts={timestamp};h1={signature}", Signed: "{timestamp}:{body}"}},
	}, {
		Name: "resend", Title: "Resend",
		Checks: "svix-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret: "the endpoint's signing secret (whsec_…)",
		Dedupe: "header:svix-id", Retries: "18h",
		Setup: [3]string{
			"At resend.com: Webhooks, Add Webhook; Endpoint URL is the webhook's URL.",
			"Choose the events and create it.",
			"Copy the signing secret (whsec_…) of the new endpoint and enter it as the `signingSecret`.",
		},
		rule: standardRule("svix"),
	}, {
		Name: "sendgrid", Title: "SendGrid",
		Checks: "X-Twilio-Email-Event-Webhook-Signature: ECDSA of time and body, in base64; at most 5 minutes old",
		Secret: "the verification key (a public key)",
		Dedupe: "body:0.sg_event_id", Retries: "24h",
		Setup: [3]string{
			"Settings, Mail Settings, Event Webhooks, Create new webhook; Post URL is the webhook's URL.",
			"Turn Signed Event Webhook on, save, open it again and enter the Verification Key as the `signingSecret`.",
			"Choose the actions and test the integration. Only calls with a single event have an id.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "X-Twilio-Email-Event-Webhook-Signature", Algorithm: ecdsaSHA256, Encoding: "base64",
			Signed: "{timestamp}{body}", TimestampHeader: "X-Twilio-Email-Event-Webhook-Timestamp",
		}},
	}, {
		Name: "stripe", Title: "Stripe",
		Checks: "Stripe-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret: "the endpoint's signing secret (whsec_…)",
		Dedupe: "body:id", Retries: "3d",
		Setup: [3]string{
			"In the Dashboard: Developers, Webhooks, Add destination; choose the events, then Webhook endpoint.",
			"Endpoint URL is the webhook's URL.",
			"Reveal the signing secret (whsec_…) of the new endpoint and enter it as the `signingSecret`.",
		},
		rule: &rule{Scheme: Scheme{Header: "Stripe-Signature", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}"}},
	}, {
		Name: "svix", Title: "Svix",
		Checks: "svix-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret: "the endpoint's signing secret (whsec_…)",
		Dedupe: "header:svix-id", Retries: "28h",
		Setup: [3]string{
			"In the sender's webhook portal (it runs on Svix): Endpoints, Add Endpoint; Endpoint URL is the webhook's URL.",
			"Copy the Signing Secret (whsec_…) of the endpoint and enter it as the `signingSecret`.",
			"If its calls have the headers webhook-… instead of svix-…, take the provider `standard-webhooks`.",
		},
		rule: standardRule("svix"),
	}, {
		Name: "zendesk", Title: "Zendesk",
		Checks: "X-Zendesk-Webhook-Signature: HMAC-SHA256 of time and body, in base64; at most 5 minutes old",
		Secret: "the webhook's signing secret",
		Dedupe: "header:X-Zendesk-Webhook-Invocation-Id", Retries: "3m",
		Setup: [3]string{
			"In Admin Center: Apps and integrations, Webhooks, Create webhook; Endpoint URL is the webhook's URL, Request method POST, Request format JSON.",
			"Create it, choose Reveal secret and enter the signing secret as the `signingSecret`.",
			"Subscribe to Zendesk events, or connect the webhook to a trigger. A test before it is created is signed with another secret, and refused.",
		},
		rule: &rule{
			Scheme: Scheme{
				Header: "X-Zendesk-Webhook-Signature", Encoding: "base64", Signed: "{timestamp}{body}", TimestampHeader: "X-Zendesk-Webhook-Signature-Timestamp",
			},
			layout: time.RFC3339,
		},
	},
}

// hubspotEscapes returns the escapes that HubSpot writes out before it signs,
// and the characters they stand for.
func hubspotEscapes() (pairs []string) {
	for code, char := range map[string]string{
		"%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$",
		"%27": "'", "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
	} {
		pairs = append(pairs, code, char, strings.ToLower(code), char)
	}
	return pairs
}
