package webhook

import (
	"slices"
	"time"

	"sluice"
	"sluice/webhook/trust"
	"sluice/wording"
)

// The settings of webhooks, in the order of the reference. The parameters of webhook.put,
// the view, the form of the portal, the files of export and apply, and the reference come
// from these rows. A new setting is a row, and a field of the same name in
// sluice.Settings; what it does is elsewhere.
var settings = locate([]Setting{
	{
		Name: "eventKey", Audit: "yes", Names: "new event", text: checkEventKey, inName: true,
		Label: "Event key", Hint: "webhook.lead.created", Required: true, Main: true,
		Help: "The name of the webhook, and what pipelines listen to: " + sluice.KeyRule + ".",
		Doc: "Name of the webhook and key that pipelines listen to, such as webhook.lead.created. " +
			"Unique; required to create.",
	}, {
		Name: "payloadType", Alias: "payloadHandling", Main: true,
		Enum: []string{"base64", "raw", "ignore"}, Default: string(sluice.Base64),
		Label: "Payload type", Help: "How pipelines get the body of a call.",
		Choices: [][2]string{
			{string(sluice.Raw), "raw: JSON and text as they are"},
			{string(sluice.Base64), "base64: every byte is kept"},
			{string(sluice.Ignore), "ignore: it is left out"},
		},
		Doc: "How the payload travels in the event: base64 (default of the API), raw (as the JSON or text it is; " +
			"default of portal and command line), or ignore (not at all).",
	}, {
		Name: "maxPayloadLength", Min: 1, Max: sluice.MaxPayloadLength, Default: sluice.DefaultPayloadLength,
		Label: "Largest payload, in bytes",
		Help: "Larger calls are rejected with 413. " + wording.Count(sluice.DefaultPayloadLength) +
			" unless given, at most " + wording.Count(sluice.MaxPayloadLength) + ".",
		Doc: "Largest accepted payload in bytes. Default 512000.",
	}, {
		Name: "provider", Audit: "yes", Main: true,
		Label: "Sender", Help: "Who calls. What a known sender sends is checked before anything is stored.",
		Doc: "The system that calls, if it is a known one: its signature, handshake and delivery id are checked " +
			"as it makes them. provider.get lists them; empty removes it.",
	}, {
		Name: "signingSecret", field: "signing", Secret: true, Main: true, text: checkSigning,
		Label: "Signing secret",
		Help: "The secret shared with the sender, or secret:name of a stored one. " +
			"It is stored encrypted and never shown again.",
		Doc: "The secret shared with the sender, or secret:<name> of a stored one; two, separated by a comma, " +
			"while it is being changed. It is stored encrypted and never shown; empty removes it.",
	}, {
		Name: "signature", Label: "Own signature",
		Help: "How a sender that is not known signs its calls, as JSON: algorithm (sha256, rsa-sha256, " +
			"ecdsa-sha256, ed25519, plain, basic, jwt, rfc9421 and others) and its fields, such as header, " +
			"format, encoding and signed.",
		Doc: "How a sender that is not a known one signs its calls, as a JSON object: header, format, algorithm, " +
			"encoding, signed, timestampHeader, idHeader, tolerance, keys, issuer, audience, bodyHash, label, " +
			"components. Empty removes it.",
	}, {
		Name: "dedupe", Preset: func(p sluice.ProviderView, _ string) string { return p.Dedupe },
		Label: "Delivery id",
		Help: "Where the id of a delivery is, so that a repeated one makes no second event: header:name, " +
			"query:name, body:member.of.json, content (equal calls are one), or off. A known sender has its own.",
		Doc: "Where the id of a delivery is, so that a repeated one makes no second event: header:<name>, " +
			"query:<name>, body:<member.of.json>, content (equal calls are one), cloudevent, mailgun, or off. " +
			"Default: where the provider has it.",
	}, {
		Name: "dedupeWindow", Least: time.Second, Most: week, Default: sluice.ShortDuration(sluice.DefaultDedupeWindow),
		Label: "Remember delivery ids for", Hint: "24h", Help: "From 1s to 168h. 24h unless given.",
		Doc: "How long the id of a delivery is remembered, from 1s to 168h. Default 24h.",
	}, {
		Name:  "schema",
		Label: "Schema", Help: "A JSON Schema that payloads must meet; others are rejected with 422.",
		Doc: "A JSON Schema (2020-12) that payloads must meet, up to 64 KiB; null or empty removes it.",
	}, {
		Name: "verifyToken", Main: true, text: checkVerifyToken, hidden: true,
		Label: "Verify token",
		Help:  "What the sender repeats in its handshake. Left empty for a new webhook, one is made.",
		Doc:   "What meta and strava repeat in their handshake; empty removes it.",
	}, {
		Name: "allow", Audit: "yes",
		Label: "Allowed networks", Hint: "203.0.113.0/24, 2001:db8::/32",
		Help: "Calls from elsewhere are rejected with 403.",
		Doc: "Networks that calls may come from, such as 203.0.113.0/24; others are refused with 403. " +
			"An empty list removes it.",
	}, {
		Name: "clientCertificate", Rows: 4, text: atMost("clientCertificate", trust.MaxCertificates, "32 KiB"),
		Label: "Client certificate",
		Help:  "A certificate that callers must have, or the authority that signs theirs, in PEM.",
		Doc: "A certificate that callers must have, or an authority that signs theirs, in PEM; " +
			"empty removes it.",
	}, {
		Name: "clientName", Audit: "yes", text: atMost("clientName", trust.MaxClientName, "253 bytes"),
		Label: "Name in the certificate",
		Help:  "A DNS name that it must be for, or the CN of its subject. Any unless given.",
		Doc:   "A DNS name that their certificates must be for, or the CN of their subject; empty removes it.",
	}, {
		Name: "multipart", Enum: []string{"files", "all"}, Default: string(sluice.MultipartFiles),
		Label: "Multipart bodies", Help: "What is taken of a body with several parts, such as a form with files.",
		Choices: [][2]string{{"files", "files: the parts named file"}, {"all", "all: every field and every file"}},
		Doc: "What of a multipart body is taken: files (default: the parts named file), " +
			"or all (every field and every file).",
	}, {
		Name: "methods", list: methodsGiven, Default: []any{"GET", "POST"},
		Label: "Methods", Hint: "GET, POST",
		Help: "Of GET, POST, PUT, PATCH and DELETE; others are rejected with 405.",
		Doc: "Methods that it is called with, of GET, POST, PUT, PATCH and DELETE; others are refused with 405. " +
			"Default GET and POST; an empty list restores it.",
	}, {
		// figures are kept for so long
		Name: "expectEvery", Audit: "yes", Least: time.Minute, Most: 30 * 24 * time.Hour, auto: true,
		Label: "Expect a call every", Hint: "1h",
		Help: "Without one for so long there is an alert. From 1m to 720h, or auto: the usual pauses are learned, " +
			"from two weeks of calls on.",
		Doc: "Raise the alert silence if no call was accepted for so long: from 1m to 720h, or auto, which learns " +
			"the usual pauses from two weeks of calls on; empty removes it.",
	}, {
		Name: "redact", Audit: "yes", list: redactionsOf,
		Label: "Never store", Hint: "payload.card.number, headers.x-customer",
		Help: "Paths of members that are replaced by *** before anything is stored.",
		Doc: "Members of calls that are never stored, as paths such as payload.card.number, " +
			"payload.items[*].email, headers.x-customer or query.email: events, pipelines and the quarantine have " +
			"*** in their place. A payload without members is replaced as a whole. An empty list removes it.",
	}, {
		Name: "keep", Audit: "yes", Least: time.Minute, // at most Store.MaxKeep
		Label: "Keep events for", Hint: "24h",
		Help: "Then they go, with their results, dead letters and payloads in traces. From 1m; " +
			"as long as other events unless given.",
		Doc: "How long its events stay, with their results, dead letters and payloads in traces: from 1m to " +
			"--event-max-age of the server, even if a pipeline is not done with them. Default: as long as other " +
			"events; empty restores it.",
	}, {
		Name: "apiUrl", Audit: "yes", text: checkAPIURL,
		Label: "Address at the sender’s API", Hint: "https://api.github.com/repos/o/r/hooks/123",
		Help: "The hook itself there, to ask what was missed: for github, gitlab, paddle, paypal, square, stripe " +
			"and svix.",
		Doc: "Address of the hook itself at the API of the sender, such as " +
			"https://api.github.com/repos/o/r/hooks/123, for webhook.missed; empty removes it.",
	}, {
		Name: "apiSecret", Secret: true, text: checkAPISecret,
		Label: "Credential for that API",
		Help: "A bearer token (PayPal: client-id:client-secret), or secret:name of a stored one. " +
			"It is stored encrypted and never shown again.",
		Doc: "The bearer token for that API (PayPal: client-id:client-secret), or secret:<name> of a stored one. " +
			"It is stored encrypted and never shown; empty removes it.",
	}, {
		Name: "missedEvery", Audit: "yes", Least: time.Minute, Most: week,
		Label: "Ask what was missed every", Hint: "1h", Help: "From 1m to 168h. Never unless given.",
		Doc: "Ask the sender so often for what was missed, as webhook.missed does: from 1m to 168h; " +
			"empty removes it.",
	}, {
		Name: "answer", text: checkAnswer,
		Preset: func(p sluice.ProviderView, _ string) string { return string(p.Answer) },
		Label:  "Answer", Help: "What callers get back. Twilio, Slack, Discord and Salesforce have their own.",
		Choices: [][2]string{
			{"", "as the sender wants it, or the result in JSON"},
			{string(sluice.AnswerResult), "result: in JSON, with its state"},
			{string(sluice.AnswerValue), "value: what pipelines make, as it is"},
			{string(sluice.AnswerEmpty), "empty: nothing, at once"},
		},
		Doc: "What callers get back: result (default: the result in JSON), value (what the pipelines made, as it " +
			"is), or empty (nothing, as soon as the event is stored). Empty restores the default, which some " +
			"providers have of their own.",
	}, {
		Name: "answerType", text: checkAnswerType, Preset: presetType,
		Label: "Content type of the answer", Hint: "text/xml",
		Help: "Of a value. Text is text/plain and the rest application/json unless given.",
		Doc: "Content type of an answer that is a value. Default text/plain for text and application/json for " +
			"the rest; empty restores it.",
	}, {
		Name: "answerWait", Most: sluice.LongestAnswerWait,
		Label: "Wait for pipelines", Hint: "5s",
		Help: "How long a call waits for what pipelines make of it, from 0s to 30s. As long as with other " +
			"webhooks unless given.",
		Doc: "How long a call waits for its pipelines, from 0s to 30s. Default: --result-wait of the server; " +
			"empty restores it.",
	}, {
		Name: "disabled", Choices: [][2]string{{"false", "no"}, {"true", "yes"}},
		Label: "Disabled", Help: "Calls are rejected for now, and kept in the quarantine.",
		Doc: "Refuse calls for now, and keep them in the quarantine.",
	}, {
		Name: "description", Main: true, text: checkDescription,
		Label: "Description", Help: "For the people who look after it.",
		Doc: "For people, up to 1000 characters.",
	},
})

const week = 168 * time.Hour

// Forms and files have some settings in an order of their own. Others come last.
const (
	formOrder = "provider eventKey signingSecret verifyToken description payloadType maxPayloadLength multipart " +
		"dedupe dedupeWindow expectEvery keep redact apiUrl apiSecret missedEvery schema signature methods"
	fileOrder = "description disabled payloadType maxPayloadLength multipart provider signature signingSecret " +
		"dedupe dedupeWindow schema expectEvery apiUrl apiSecret missedEvery redact keep methods " +
		"answer answerType answerWait"
)

// FileSettings returns the settings that files have, in the order of files.
func FileSettings() []Setting {
	rows := slices.DeleteFunc(slices.Clone(settings), func(s Setting) bool { return s.hidden || s.inName })
	slices.SortStableFunc(rows, func(a, b Setting) int { return place(fileOrder, a.Name) - place(fileOrder, b.Name) })
	return rows
}
