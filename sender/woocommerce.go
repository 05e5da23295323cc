package sender

import (
	"net/http"
	"regexp"
)

func woocommerce() Preset {
	return Preset{
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
	}
}

// wooPing is the body of the ping that a saved webhook sends.
var wooPing = regexp.MustCompile(`^webhook_id=\d{1,20}$`)
