package sender

import "strings"

func hubspot() Preset {
	return Preset{
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
	}
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
