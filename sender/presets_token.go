package sender

import (
	"context"
	"crypto/subtle"
	"time"

	"sluice"
)

// tokenSenders are senders that sign no bodies: they send a secret, or a token that it signs.
var tokenSenders = []Preset{
	{
		Name: "alertmanager", Title: "Alertmanager",
		Checks:   "Authorization: the secret as a bearer token; the body is not signed",
		Unsigned: true,
		Secret:   "the credentials of the receiver's http_config", SecretChosen: true,
		Dedupe: "off", Retries: "5m",
		Setup: [3]string{
			"In alertmanager.yml, a receiver with webhook_configs: url is the webhook's URL.",
			"Below it, http_config, authorization: credentials are a random text, the same as the `signingSecret`.",
			"Reload Alertmanager. It repeats alerts that go on, and gives its calls no id.",
		},
		Masked:  []string{"authorization"},
		checker: byToken("Authorization", "Bearer"),
	}, {
		Name: "bigcommerce", Title: "BigCommerce",
		Checks:   "X-Webhook-Secret: the secret itself; the body is not signed",
		Unsigned: true,
		Secret:   "the header X-Webhook-Secret of the webhook", SecretChosen: true,
		Dedupe: "body:hash", Retries: "48h",
		Setup: [3]string{
			"Create the webhook with POST https://api.bigcommerce.com/stores/{store_hash}/v3/hooks; destination is the webhook's URL.",
			"headers is {\"X-Webhook-Secret\": …} with a random text, the same as the `signingSecret`.",
			"scope is what to be told of, such as store/order/created. Calls have ids only: get the data with the API.",
		},
		Masked:  []string{"x-webhook-secret"},
		checker: byToken("X-Webhook-Secret", ""),
	}, {
		Name: "chargebee", Title: "Chargebee",
		Checks:   "Authorization: user name and password; the body is not signed",
		Unsigned: true,
		Secret:   "the password of the webhook's basic authentication", SecretChosen: true,
		Dedupe: "body:id", Retries: "3d",
		Setup: [3]string{
			"In the site: Settings, Configure Chargebee, Webhooks, Add Webhook; Webhook URL is the webhook's URL.",
			"Protect webhook URL with basic authentication: user name `sluice`, and a password of your own, the same as the `signingSecret`. With another user name it is `user:password`.",
			"Choose the events and API version 2, create the webhook, and test it.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}, {
		Name: "figma", Title: "Figma",
		Checks:   "passcode in the body: the secret itself; nothing is signed",
		Unsigned: true,
		Secret:   "the webhook's passcode", SecretChosen: true,
		Dedupe: "off", Retries: "3h35m",
		Setup: [3]string{
			"Create the webhook with POST https://api.figma.com/v2/webhooks; endpoint is the webhook's URL.",
			"passcode is a random text of at most 100 characters, the same as the `signingSecret`.",
			"event_type, context and context_id say what to be told of; Figma sends a PING at once. Its calls have no id, so repeated ones are not recognised.",
		},
		checker: func(secret string, _ Keys) (checker, error) { return passcodeCheck{secret}, nil },
	}, {
		Name: "gitlab", Title: "GitLab",
		Checks:   "X-Gitlab-Token: the secret itself; the body is not signed",
		Unsigned: true,
		Secret:   "the webhook's secret token", SecretChosen: true,
		Dedupe: "header:Idempotency-Key", Retries: "none",
		Setup: [3]string{
			"In the project or group: Settings, Webhooks, Add new webhook; URL is the webhook's URL.",
			"Secret token is a random text, the same as the `signingSecret`.",
			"Choose the triggers, leave SSL verification on, add the webhook, and test it from the list.",
		},
		Masked:  []string{"x-gitlab-token"},
		checker: byToken("X-Gitlab-Token", ""),
	}, {
		Name: "netlify", Title: "Netlify",
		Checks: "X-Webhook-Signature: a JWT with the SHA-256 of the body, signed with HMAC-SHA256",
		Secret: "the notification's JWS secret token", SecretChosen: true,
		Dedupe: "off", Retries: "unknown",
		Setup: [3]string{
			"In the project: Project configuration, Notifications, Emails and webhooks, Add notification, HTTP POST request.",
			"URL to notify is the webhook's URL; JWS secret token is a random text, the same as the `signingSecret`.",
			"Choose the event; each one takes a notification of its own. Netlify gives its calls no id, so repeated ones are not recognised.",
		},
		checker: byJWT(Scheme{Header: "X-Webhook-Signature", Issuer: "netlify", BodyHash: "sha256"}, true),
	}, {
		Name: "pipedrive", Title: "Pipedrive",
		Checks:   "Authorization: user name and password; the body is not signed",
		Unsigned: true,
		Secret:   "the password of the webhook's HTTP authentication", SecretChosen: true,
		Dedupe: "body:meta.id", Retries: "3m",
		Setup: [3]string{
			"In Pipedrive: Tools and apps, Webhooks, Create new webhook; Endpoint URL is the webhook's URL.",
			"HTTP Auth username is `sluice`; the password is your own, the same as the `signingSecret`. With another user name it is `user:password`.",
			"Choose event action and object, and save.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}, {
		Name: "postmark", Title: "Postmark",
		Checks:   "Authorization: user name and password; the body is not signed",
		Unsigned: true,
		Secret:   "the password of the webhook's basic auth", SecretChosen: true,
		Dedupe: "off", Retries: "10h",
		Setup: [3]string{
			"In the message stream: Webhooks, Add webhook; Webhook URL is the webhook's URL.",
			"Add Basic auth credentials: user name `sluice`, and a password of your own, the same as the `signingSecret`. With another user name it is `user:password`.",
			"Choose the events, send a test, and save. Postmark gives its calls no id, so repeated ones are not recognised.",
		},
		Masked:  []string{"authorization"},
		checker: password,
	}, {
		Name: "salesforce", Title: "Salesforce",
		Checks:         "nothing, since Salesforce does not sign its outbound messages: the URL is the secret",
		Unsigned:       true,
		SecretOptional: true,
		Dedupe:         "off",
		Answers:        Answers{Form: sluice.AnswerEmpty, Type: "text/xml; charset=utf-8", None: salesforceAck, Words: "the SOAP acknowledgement, as soon as the event is stored and whatever pipelines do"},
		Retries:        "24h",
		Setup: [3]string{
			"In Setup, Outbound Messages: New Outbound Message, and choose the object. Salesforce does not sign, so there is no `signingSecret`; its client certificate (Setup, API Client Certificate) can be demanded with `clientCertificate`.",
			"Endpoint URL is the webhook's URL. Choose the fields, and leave Send Session ID off: it would give pipelines a login.",
			"Let a flow or a workflow rule send the message. One call has up to 100 notifications, each with an Id, and may come again with others.",
		},
	}, {
		Name: "telegram", Title: "Telegram",
		Checks:   "X-Telegram-Bot-Api-Secret-Token: the secret itself; the body is not signed",
		Unsigned: true,
		Secret:   "the secret_token of the bot's webhook", SecretChosen: true,
		Dedupe: "body:update_id", Retries: "24h",
		Setup: [3]string{
			"Make a bot with @BotFather and copy its token.",
			"Call https://api.telegram.org/bot<token>/setWebhook; url is the webhook's URL, secret_token a random text of letters and digits, the same as the `signingSecret`.",
			"…/getWebhookInfo tells how many updates wait, and the last error. With `answer: value` a pipeline's JSON, such as `{method: sendMessage, chat_id: …, text: …}`, is the bot's reply.",
		},
		Masked:  []string{"x-telegram-bot-api-secret-token"},
		checker: byToken("X-Telegram-Bot-Api-Secret-Token", ""),
	}, {
		Name: "vonage", Title: "Vonage",
		Checks: "Authorization: a JWT with the SHA-256 of the body, signed with HMAC-SHA256; at most 5 minutes old",
		Secret: "the account's signature secret",
		Dedupe: "off", Retries: "24h",
		Setup: [3]string{
			"In the Vonage API Dashboard, API Settings: enter the Signature secret as the `signingSecret`.",
			"At the application: Inbound URL, Status URL or Event URL is the webhook's URL; the HTTP method is POST.",
			"For SMS choose in API Settings: POST-JSON. Each call has a JWT.",
		},
		Masked:  []string{"authorization"},
		checker: byJWT(Scheme{Header: "Authorization", BodyHash: "payload_hash"}, true),
	},
}

// salesforceAck is the answer without which Salesforce sends a message again, for a day.
const salesforceAck = `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>`

type passcodeCheck struct{ passcode string }

func (p passcodeCheck) check(_ context.Context, c *Call, _ time.Time) error {
	given := lookup(c.Body, []string{"passcode"})
	if len(given) == 0 || given[0] != '"' {
		return missing("The body has no passcode.")
	}
	if subtle.ConstantTimeCompare([]byte(scalar(given)), []byte(p.passcode)) != 1 {
		return invalid("The passcode in the body is another one.")
	}
	return nil
}

func (p passcodeCheck) sign(c *Call, _ time.Time) (err error) {
	c.Body, err = putMember(c.Body, "passcode", p.passcode)
	return err
}
