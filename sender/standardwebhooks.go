package sender

import (
	"encoding/base64"
	"strings"
)

func standardWebhooks() Preset {
	return Preset{
		Name: "standard-webhooks", Title: "Standard Webhooks",
		Checks: "webhook-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret: "the endpoint's secret (whsec_…)",
		Dedupe: "header:webhook-id",
		Setup: [3]string{
			"At the sender, add an endpoint; its URL is the webhook's URL.",
			"Copy the endpoint's signing secret (whsec_…) and enter it as `signingSecret`.",
			"For a public key (whpk_…) use `signature` with algorithm `ed25519`, format `v1a,{signature}` and the same headers.",
		},
		rule: standardRule("webhook"),
	}
}

// standardRule is how Standard Webhooks signs, with headers of that prefix.
func standardRule(prefix string) *rule {
	return &rule{
		Scheme: Scheme{
			Header: prefix + "-signature", Format: "v1,{signature}", Encoding: "base64", Signed: "{id}.{timestamp}.{body}",
			TimestampHeader: prefix + "-timestamp", IDHeader: prefix + "-id",
		},
		key: standardKey,
	}
}

// standardKey decodes a secret with or without its prefix.
func standardKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, secretError("The signing secret must be base64, with or without whsec_ before it, as the sender shows it.")
	}
	return key, nil
}
