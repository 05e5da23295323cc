package sender

import "net/http"

func okta() Preset {
	return Preset{
		Name: "okta", Title: "Okta",
		Checks:       "Authorization: the secret itself; the body is not signed",
		Unsigned:     true,
		Secret:       "the event hook's authentication secret",
		SecretChosen: true,
		Handshake:    "GET with X-Okta-Verification-Challenge: it is repeated",
		Dedupe:       "body:eventId",
		Retries:      "unknown",
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
	}
}
