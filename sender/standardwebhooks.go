package sender

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func standardWebhooks() Preset {
	return Preset{
		Name: "standard-webhooks", Title: "Standard Webhooks",
		Checks: "webhook-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret: "the endpoint's secret (whsec_…)",
		Dedupe: "header:webhook-id", Retries: "unknown",
		Setup: [3]string{
			"At the sender, add an endpoint; its URL is the webhook's URL.",
			"Copy the endpoint's signing secret (whsec_…) and enter it as the `signingSecret`.",
			"For a public key (whpk_…) use `signature` with algorithm `ed25519`, format `v1a,{signature}` and the same headers.",
		},
		rule: standardRule("webhook"),
	}
}

// standardRule is the rule of Standard Webhooks, with a prefix for its headers.
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

// SignStandard sets the headers by which receivers of Standard Webhooks know a
// call: its id, its time and its signature. A secret that begins with whsec_ is
// base64; any other is the key as it is.
func SignStandard(header http.Header, secret, id string, body []byte, now time.Time) error {
	key := []byte(secret)
	if strings.HasPrefix(secret, "whsec_") {
		var err error
		if key, err = standardKey(secret); err != nil {
			return err
		}
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	sum := macOf(sha256.New, string(key), id+"."+timestamp+".", string(body))
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", timestamp)
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(sum))
	return nil
}
