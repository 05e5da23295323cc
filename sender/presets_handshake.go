package sender

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"time"

	"sluice"
)

// greeters are senders that call only where their handshake was answered.
var greeters = []Preset{
	{
		Name: "azure-event-grid", Title: "Azure Event Grid",
		Checks:         "nothing, since Event Grid does not sign its calls: the URL is the secret",
		Unsigned:       true,
		SecretOptional: true,
		Handshake:      "SubscriptionValidationEvent: its code is repeated; OPTIONS: the origin is allowed",
		Dedupe:         "body:0.id", Retries: "24h",
		Setup: [3]string{
			"At the topic: Event Subscription, Endpoint Type Web Hook; Subscriber Endpoint is the webhook's URL.",
			"Leave output batching at one event per call, since only then calls have an id.",
			"With the Cloud Event Schema set `dedupe` to `cloudevent`.",
		},
		greet: func(g greeting) (*Answer, error) {
			if answer := g.originAnswer(); answer != nil {
				return answer, nil
			}
			if g.text("0", "eventType") != "Microsoft.EventGrid.SubscriptionValidationEvent" {
				return nil, nil
			}
			return jsonAnswer([2]string{"validationResponse", g.text("0", "data", "validationCode")}), nil
		},
	}, {
		Name: "cloudevents", Title: "CloudEvents",
		Checks:   "Authorization: the secret as a bearer token, if one is set; nothing is signed",
		Unsigned: true,
		Secret:   "the bearer token that the sender sends", SecretChosen: true,
		SecretOptional: true,
		Handshake:      "OPTIONS with WebHook-Request-Origin: the origin is allowed",
		Dedupe:         "cloudevent", Retries: "unknown",
		Setup: [3]string{
			"At the sender (Knative, Event Grid, a broker, …), the sink or endpoint is the webhook's URL; binary and structured mode are both fine.",
			"If it can send a bearer token, that is a random text, the same as the `signingSecret`.",
			"Send one event in a call: batches have no one id, so repeated ones are not recognised.",
		},
		Masked:  []string{"authorization"},
		checker: byToken("Authorization", "Bearer"),
		greet:   func(g greeting) (*Answer, error) { return g.originAnswer(), nil },
	}, {
		Name: "discord", Title: "Discord",
		Checks:    "X-Signature-Ed25519: Ed25519 of time and body, in hex; at most 5 minutes old",
		Secret:    "the application's public key",
		Handshake: "PING, signed: answered with PONG, or 204 for webhook events",
		Dedupe:    "body:id", Retries: "10m",
		Answers: Answers{Form: sluice.AnswerValue, Words: "what a pipeline makes, as JSON"},
		Setup: [3]string{
			"At discord.com/developers, your application, General Information: enter the Public Key as the `signingSecret` first.",
			"Endpoint on the page Webhooks, or Interactions Endpoint URL there, is the webhook's URL. Discord wants the answer to an interaction within 3 seconds: a pipeline that makes `{type: 4, data: {content: Thanks}}` replies.",
			"Save; Discord sends a good and a forged PING and takes the URL only if the forged one is refused.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "X-Signature-Ed25519", Algorithm: "ed25519", Signed: "{timestamp}{body}", TimestampHeader: "X-Signature-Timestamp",
		}},
		greetSigned: true,
		greet: func(g greeting) (*Answer, error) {
			kind := string(lookup(g.Body, []string{"type"}))
			isEvent := lookup(g.Body, []string{"event"}) != nil
			switch {
			case g.Method != http.MethodPost:
			case kind == "0":
				return &Answer{Status: http.StatusNoContent, Header: http.Header{"Content-Type": {"application/json"}}}, nil
			case kind == "1" && !isEvent:
				return &Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"type":1}`)}, nil
			}
			return nil, nil
		},
	}, {
		Name: "dropbox", Title: "Dropbox",
		Checks:    "X-Dropbox-Signature: HMAC-SHA256 of the body, in hex",
		Secret:    "the app secret",
		Handshake: "GET with challenge: it is repeated",
		Dedupe:    "off", Retries: "unknown",
		Setup: [3]string{
			"In the App Console, Settings: enter the App secret as the `signingSecret`.",
			"Webhooks, Webhook URIs: add the webhook's URL; Dropbox checks it at once.",
			"Calls only say whose files changed, and have no id: get the changes with files/list_folder/continue.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Dropbox-Signature"}},
		greet: func(g greeting) (*Answer, error) {
			if g.Method != http.MethodGet {
				return nil, nil
			}
			return plainAnswer(g.parameter("challenge")), nil
		},
	}, {
		Name: "meta", Title: "Meta (Facebook, Instagram, WhatsApp)",
		Checks:      "X-Hub-Signature-256: HMAC-SHA256 of the body, in hex",
		Secret:      "the app secret",
		Handshake:   "GET with hub.challenge: it is repeated, if hub.verify_token is `verifyToken`",
		VerifyToken: true,
		Dedupe:      "body:entry.0.changes.0.value.messages.0.id", Retries: "36h",
		Setup: [3]string{
			"At developers.facebook.com, App settings, Basic: enter the App secret as the `signingSecret`.",
			"In the product (WhatsApp, Messenger, …), Configuration, Webhook: Callback URL is the webhook's URL, Verify token is a random text, the same as the `verifyToken`.",
			"Verify and save, then subscribe to the fields. Ids are known for WhatsApp messages only.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Hub-Signature-256", Format: "sha256={signature}"}},
		greet: func(g greeting) (*Answer, error) {
			challenge, err := g.hubChallenge()
			return plainAnswer(challenge), err
		},
	}, {
		Name: "monday", Title: "monday.com",
		Checks:    "Authorization: a JWT, signed with HMAC-SHA256; the body is not signed",
		Secret:    "the app's signing secret",
		Handshake: "challenge: it is repeated",
		Dedupe:    "body:event.triggerUuid", Retries: "30m",
		Setup: [3]string{
			"In the Developer Center, your app, Basic Information: enter the Signing Secret as the `signingSecret`. monday.com signs only webhooks that an app makes.",
			"With a token of the app, run the mutation create_webhook; url is the webhook's URL. monday.com sends a challenge at once.",
			"Webhooks that are made on a board, under Integrations, are not signed: leave `provider` out for those.",
		},
		Masked:  []string{"authorization"},
		checker: byJWT(Scheme{Header: "Authorization"}, false),
		greet: func(g greeting) (*Answer, error) {
			return jsonAnswer([2]string{"challenge", g.text("challenge")}), nil
		},
	}, {
		Name: "okta", Title: "Okta",
		Checks:   "Authorization: the secret itself; the body is not signed",
		Unsigned: true,
		Secret:   "the event hook's authentication secret", SecretChosen: true,
		Handshake: "GET with X-Okta-Verification-Challenge: it is repeated",
		Dedupe:    "body:eventId", Retries: "unknown",
		Setup: [3]string{
			"In the Admin Console: Workflow, Event Hooks, Create Event Hook; URL is the webhook's URL.",
			"Authentication field is Authorization, Authentication secret is a random text, the same as the `signingSecret`.",
			"Choose the events, save, and press Verify.",
		},
		Masked:  []string{"authorization"},
		checker: byToken("Authorization", ""),
		greet: func(g greeting) (*Answer, error) {
			if g.Method != http.MethodGet {
				return nil, nil
			}
			return jsonAnswer([2]string{"verification", g.Header.Get("X-Okta-Verification-Challenge")}), nil
		},
	}, {
		Name: "slack", Title: "Slack",
		Checks:    "X-Slack-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:    "the app's signing secret",
		Handshake: "url_verification, signed: the challenge is repeated",
		Dedupe:    "body:event_id", Retries: "6m",
		Answers: Answers{Form: sluice.AnswerValue, Late: true, Words: "what a pipeline makes, as text or JSON; an empty body where there is nothing, or not in time"},
		Setup: [3]string{
			"At api.slack.com/apps, Basic Information: enter the Signing Secret as the `signingSecret` first, since Slack checks the URL at once.",
			"Event Subscriptions: enable them; Request URL is the webhook's URL. It is the same for slash commands and interactivity, which come as forms (`body.contentType` tells; `convert.fromForm: {input: '#{body.payload}'}` reads them): what a pipeline makes is the answer, which Slack wants within 3 seconds.",
			"Subscribe to the events, save, and install the app in the workspace again.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "X-Slack-Signature", Format: "v0={signature}", Signed: "v0:{timestamp}:{body}", TimestampHeader: "X-Slack-Request-Timestamp",
		}},
		greetSigned: true,
		greet: func(g greeting) (*Answer, error) {
			if g.text("type") != "url_verification" {
				return nil, nil
			}
			return plainAnswer(g.text("challenge")), nil
		},
	}, {
		Name: "strava", Title: "Strava",
		Checks:         "nothing, since Strava does not sign its calls: the URL is the secret",
		Unsigned:       true,
		SecretOptional: true,
		Handshake:      "GET with hub.challenge: it is repeated, if hub.verify_token is `verifyToken`",
		VerifyToken:    true,
		Dedupe:         "off", Retries: "unknown",
		Setup: [3]string{
			"Strava does not sign its calls, so there is no `signingSecret`: whoever has the URL can call.",
			"Create the subscription with POST https://www.strava.com/api/v3/push_subscriptions; callback_url is the webhook's URL, verify_token is a random text, the same as the `verifyToken`.",
			"An application has one subscription. Strava gives its calls no id, so repeated ones are not recognised.",
		},
		greet: func(g greeting) (*Answer, error) {
			challenge, err := g.hubChallenge()
			return jsonAnswer([2]string{"hub.challenge", challenge}), err
		},
	}, {
		Name: "trello", Title: "Trello",
		Checks:    "X-Trello-Webhook: HMAC-SHA1 of body and URL, in base64",
		Secret:    "the secret of the Power-Up's API key",
		Handshake: "HEAD: answered with 200",
		Dedupe:    "body:action.id", Retries: "4m",
		Setup: [3]string{
			"At trello.com/power-ups/admin, your Power-Up, API key: enter the Secret as the `signingSecret`.",
			"Create the webhook with POST https://api.trello.com/1/webhooks; callbackURL is the webhook's URL, idModel the board or card.",
			"The server must be told its public URL (`--public-url`), since Trello signs the URL as it was entered.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Trello-Webhook", Algorithm: "sha1", Encoding: "base64", Signed: "{body}{url}"}},
		greet: func(g greeting) (*Answer, error) {
			if g.Method != http.MethodHead {
				return nil, nil
			}
			return &Answer{Status: http.StatusOK, Header: http.Header{}}, nil
		},
	}, {
		Name: "twitch", Title: "Twitch",
		Checks: "Twitch-Eventsub-Message-Signature: HMAC-SHA256 of id, time and body, in hex; at most 10 minutes old",
		Secret: "the subscription's secret", SecretChosen: true,
		Handshake: "webhook_callback_verification, signed: the challenge is repeated",
		Dedupe:    "header:Twitch-Eventsub-Message-Id", Retries: "unknown",
		Setup: [3]string{
			"Create the subscription with POST https://api.twitch.tv/helix/eventsub/subscriptions; transport is {\"method\": \"webhook\", \"callback\": the webhook's URL, \"secret\": …}.",
			"The secret is a random text of 10 to 100 characters, the same as the `signingSecret`. The callback must have HTTPS on port 443.",
			"Twitch sends a challenge at once, and the subscription is enabled.",
		},
		rule: &rule{
			Scheme: Scheme{
				Header: "Twitch-Eventsub-Message-Signature", Format: "sha256={signature}", Signed: "{id}{timestamp}{body}",
				TimestampHeader: "Twitch-Eventsub-Message-Timestamp", IDHeader: "Twitch-Eventsub-Message-Id", Tolerance: "10m",
			},
			layout: time.RFC3339Nano,
		},
		greetSigned: true,
		greet: func(g greeting) (*Answer, error) {
			if g.Header.Get("Twitch-Eventsub-Message-Type") != "webhook_callback_verification" {
				return nil, nil
			}
			return plainAnswer(g.text("challenge")), nil
		},
	}, {
		Name: "woocommerce", Title: "WooCommerce",
		Checks: "X-WC-Webhook-Signature: HMAC-SHA256 of the body, in base64",
		Secret: "the webhook's secret", SecretChosen: true,
		Handshake: "webhook_id in a form: answered with 200",
		Dedupe:    "header:X-WC-Webhook-Delivery-ID", Retries: "none",
		Setup: [3]string{
			"In WordPress: WooCommerce, Settings, Advanced, Webhooks, Add webhook; Delivery URL is the webhook's URL.",
			"Secret is a random text, the same as the `signingSecret`; Status is Active.",
			"Choose the topic and save: WooCommerce sends an unsigned ping. After five failures it disables the webhook.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-WC-Webhook-Signature", Encoding: "base64"}},
		greet: func(g greeting) (*Answer, error) {
			if !wooPing.Match(g.Body) {
				return nil, nil
			}
			return &Answer{Status: http.StatusOK, Header: http.Header{}}, nil
		},
	}, {
		Name: "x", Title: "X (Twitter)",
		Checks:    "x-twitter-webhooks-signature: HMAC-SHA256 of the body, in base64",
		Secret:    "the app's API key secret (consumer secret)",
		Handshake: "GET with crc_token: its HMAC, at first and every hour",
		Dedupe:    "off", Retries: "unknown",
		Setup: [3]string{
			"In the developer portal, your app, Keys and tokens: enter the API Key Secret as the `signingSecret` first.",
			"Register the webhook's URL with POST https://api.x.com/2/webhooks; X checks it at once.",
			"Subscribe users to it. X gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-Twitter-Webhooks-Signature", Format: "sha256={signature}", Encoding: "base64"}, handedOut: xChallenge},
		greet: func(g greeting) (*Answer, error) {
			token := g.parameter("crc_token")
			if g.Method != http.MethodGet || !xChallenge.MatchString(token) {
				return nil, nil
			}
			return jsonAnswer([2]string{"response_token", "sha256=" + base64.StdEncoding.EncodeToString(macOf(sha256.New, g.secret, token))}), nil
		},
	}, {
		Name: "zoom", Title: "Zoom",
		Checks:    "x-zm-signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:    "the app's secret token",
		Handshake: "endpoint.url_validation, signed: plainToken and its HMAC",
		Dedupe:    "off", Retries: "90m",
		Setup: [3]string{
			"At marketplace.zoom.us, Manage, your app, Features, Access: enter the Secret Token as the `signingSecret` first.",
			"Event Subscriptions: add one; Event notification endpoint URL is the webhook's URL.",
			"Choose the event types, press Validate and save. Zoom gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{
			Header: "X-Zm-Signature", Format: "v0={signature}", Signed: "v0:{timestamp}:{body}", TimestampHeader: "X-Zm-Request-Timestamp",
		}},
		greetSigned: true,
		greet: func(g greeting) (*Answer, error) {
			token := g.text("payload", "plainToken")
			if g.text("event") != "endpoint.url_validation" {
				return nil, nil
			}
			return jsonAnswer([2]string{"plainToken", token}, [2]string{"encryptedToken", hex.EncodeToString(macOf(sha256.New, g.secret, token))}), nil
		},
	},
}

// wooPing is the body of the ping that a saved webhook sends.
var wooPing = regexp.MustCompile(`^webhook_id=\d{1,20}$`)

// xChallenge matches the challenges of X. We sign them with the key of the calls, even for
// strangers; so no call may have such a body. The bodies of real calls are objects.
var xChallenge = regexp.MustCompile(`^[A-Za-z0-9_=-]{1,128}$`)

func asana() Preset {
	return Preset{
		Name: "asana", Title: "Asana",
		Checks:         "X-Hook-Signature: HMAC-SHA256 of the body, in hex",
		Secret:         "learned from the first handshake",
		SecretOptional: true,
		Handshake:      "X-Hook-Secret: repeated and kept, the first time only",
		Dedupe:         "off", Retries: "24h",
		Setup: [3]string{
			"Make the webhook here first; its `signingSecret` stays empty.",
			"Create the webhook with POST https://app.asana.com/api/1.0/webhooks; target is the webhook's URL. Asana sends the secret at once, and it is kept.",
			"To set it up again, remove the `signingSecret` first. Asana gives its calls no id, so repeated ones are not recognised.",
		},
		Masked: []string{"x-hook-secret"},
		rule:   &rule{Scheme: Scheme{Header: "X-Hook-Signature"}},
		learns: true,
		greet:  greetAsana,
	}
}

// greetAsana learns the secret. A known one is only repeated, in case the first answer got
// lost.
func greetAsana(g greeting) (*Answer, error) {
	const name = "X-Hook-Secret"
	given := g.Header[name]
	if g.Method != http.MethodPost || len(given) != 1 || given[0] == "" || len(given[0]) > maxDeliveryID || !isPrintable(given[0]) {
		return nil, nil
	}
	if strings.ContainsAny(given[0], ",:") {
		return nil, nil // it would read as several secrets, or as the name of a stored one
	}
	answer := &Answer{Status: http.StatusOK, Header: http.Header{name: {given[0]}}}
	switch {
	case g.secret == "":
		answer.LearnedSecret = given[0]
	case subtle.ConstantTimeCompare([]byte(given[0]), []byte(g.secret)) != 1:
		return nil, nil
	}
	return answer, nil
}
