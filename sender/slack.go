package sender

import "sluice"

func slack() Preset {
	return Preset{
		Name: "slack", Title: "Slack",
		Checks:    "X-Slack-Signature: HMAC-SHA256 of time and body, in hex; at most 5 minutes old",
		Secret:    "the app's signing secret",
		Handshake: "url_verification, signed: the challenge is repeated",
		Dedupe:    "body:event_id",
		Retries:   "6m",
		Answers:   Answers{Form: sluice.AnswerValue, Late: true, Words: "what a pipeline makes, as text or JSON; an empty body where there is nothing, or not in time"},
		Setup: [3]string{
			"At api.slack.com/apps, Basic Information: enter the Signing Secret as the `signingSecret` first, since Slack checks the URL at once.",
			"Event Subscriptions: enable them; Request URL is the webhook's URL. It is the same for slash commands and interactivity: what a pipeline makes is the answer, which Slack wants within 3 seconds.",
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
	}
}
