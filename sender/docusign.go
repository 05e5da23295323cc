package sender

func docusign() Preset {
	return Preset{
		Name: "docusign", Title: "Docusign",
		Checks:  "X-DocuSign-Signature-1: HMAC-SHA256 of the body, in base64",
		Secret:  "a Connect HMAC key",
		Dedupe:  "off",
		Retries: "15d",
		Setup: [3]string{
			"In eSignature Settings: Connect, Connect Keys, Add Secret Key; enter it as the `signingSecret`.",
			"Connect, Add Configuration, Custom; URL to Publish is the webhook's URL, Data Format is REST v2.1 JSON.",
			"Tick Include HMAC Signature, choose the events, and save. Docusign gives its calls no id, so repeated ones are not recognised.",
		},
		rule: &rule{Scheme: Scheme{Header: "X-DocuSign-Signature-1", Encoding: "base64"}},
	}
}
