package portal

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/problem"
	"sluice/wording"
)

// A webhookForm is the page where people create or edit a webhook.
type webhookForm struct {
	form

	Key       string // "" for a new webhook
	Tag       string // of the edited version, so that no other edit is lost
	Providers []sluice.ProviderView
	Chosen    string // provider
}

// Main returns the fields that most webhooks need.
func (f *webhookForm) Main() []field { return f.those(true) }

// More returns the fields that few webhooks need.
func (f *webhookForm) More() []field { return f.those(false) }

func (f *webhookForm) those(main bool) (fields []field) {
	for _, at := range f.Fields {
		if slices.Contains(mainFields, at.Name) == main {
			fields = append(fields, at)
		}
	}
	return fields
}

// Opened reports whether a field of More has a mistake.
func (f *webhookForm) Opened() bool {
	return slices.ContainsFunc(f.More(), func(at field) bool { return at.Problem != "" })
}

var mainFields = []string{"provider", "eventKey", "signingSecret", "verifyToken", "description", "payloadType"}

// webhookFields describes the fields, in the order of the form.
var webhookFields = []field{
	{Name: "provider", Label: "Sender", Help: "Who calls. What a known sender sends is checked before anything is stored."},
	{Name: "eventKey", Label: "Event key", Help: "The name of the webhook, and what pipelines listen to: " + sluice.KeyRule + ".", Hint: "webhook.lead.created"},
	{Name: "signingSecret", Label: "Signing secret", Help: "The secret shared with the sender, or secret:name of a stored one. It is stored encrypted and never shown again."},
	{Name: "verifyToken", Label: "Verify token", Help: "What the sender repeats in its handshake. Left empty for a new webhook, one is made."},
	{Name: "description", Label: "Description", Help: "For the people who look after it."},
	{Name: "payloadType", Label: "Payload type", Help: "How pipelines get the body of a call."},
	{Name: "maxPayloadLength", Label: "Largest payload, in bytes", Help: "Larger calls are rejected with 413. " + wording.Count(sluice.DefaultPayloadLength) + " unless given, at most " + wording.Count(sluice.MaxPayloadLength) + "."},
	{Name: "multipart", Label: "Multipart bodies", Help: "What is taken of a body with several parts, such as a form with files."},
	{Name: "dedupe", Label: "Delivery id", Help: "Where the id of a delivery is, so that a repeated one makes no second event: header:name, query:name, body:member.of.json, content (equal calls are one), or off. A known sender has its own."},
	{Name: "dedupeWindow", Label: "Remember delivery ids for", Help: "From 1s to 168h. 24h unless given.", Hint: "24h"},
	{Name: "expectEvery", Label: "Expect a call every", Help: "Without one for so long there is an alert. From 1m to 720h, or auto: the usual pauses are learned, from two weeks of calls on.", Hint: "1h"},
	{Name: "keep", Label: "Keep events for", Help: "Then they go, with their results, dead letters and payloads in traces. From 1m; as long as other events unless given.", Hint: "24h"},
	{Name: "redact", Label: "Never store", Help: "Paths of members that are replaced by *** before anything is stored.", Hint: "payload.card.number, headers.x-customer"},
	{Name: "apiUrl", Label: "Address at the sender’s API", Help: "The hook itself there, to ask what was missed: for github, gitlab, paddle, paypal, square, stripe and svix.", Hint: "https://api.github.com/repos/o/r/hooks/123"},
	{Name: "apiSecret", Label: "Credential for that API", Help: "A bearer token (PayPal: client-id:client-secret), or secret:name of a stored one. It is stored encrypted and never shown again."},
	{Name: "missedEvery", Label: "Ask what was missed every", Help: "From 1m to 168h. Never unless given.", Hint: "1h"},
	{Name: "schema", Label: "Schema", Help: "A JSON Schema that payloads must meet; others are rejected with 422."},
	{Name: "signature", Label: "Own signature", Help: "How a sender that is not known signs its calls, as JSON: algorithm (sha256, rsa-sha256, ecdsa-sha256, ed25519, plain, basic, jwt, rfc9421 and others) and its fields, such as header, format, encoding and signed."},
	{Name: "methods", Label: "Methods", Help: "Of GET, POST, PUT, PATCH and DELETE; others are rejected with 405.", Hint: "GET, POST"},
	{Name: "allow", Label: "Allowed networks", Help: "Calls from elsewhere are rejected with 403.", Hint: "203.0.113.0/24, 2001:db8::/32"},
	{Name: "clientCertificate", Label: "Client certificate", Help: "A certificate that callers must have, or the authority that signs theirs, in PEM."},
	{Name: "clientName", Label: "Name in the certificate", Help: "A DNS name that it must be for, or the CN of its subject. Any unless given."},
	{Name: "answer", Label: "Answer", Help: "What callers get back. Twilio, Slack, Discord and Salesforce have their own."},
	{Name: "answerType", Label: "Content type of the answer", Help: "Of a value. Text is text/plain and the rest application/json unless given.", Hint: "text/xml"},
	{Name: "answerWait", Label: "Wait for pipelines", Help: "How long a call waits for what pipelines make of it, from 0s to 30s. As long as with other webhooks unless given.", Hint: "5s"},
	{Name: "disabled", Label: "Disabled", Help: "Calls are rejected for now, and kept in the quarantine."},
}

func (p *Portal) webhookNew(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	if !query.Has("payloadType") {
		query.Set("payloadType", string(sluice.Raw))
	}
	return p.webhookForm(w, r, http.StatusOK, sluice.WebhookView{}, query, nil)
}

func (p *Portal) webhookForm(w http.ResponseWriter, r *http.Request, status int, before sluice.WebhookView, entered url.Values, failure error) error {
	cmd, _ := p.Commands.Find("webhook.put")
	given := formOf(cmd, entered, nil)
	given.drop("uuid", "ifMatch", "ifUpdated") // people don't fill them in
	given.blame(failure)
	f := &webhookForm{form: form{Problem: given.Problem}, Key: before.EventKey, Tag: before.ETag, Chosen: entered.Get("provider")}
	for _, shown := range webhookFields {
		at := given.find(shown.Name)
		at.Label, at.Help = shown.Label, shown.Help
		if shown.Hint != "" {
			at.Hint = shown.Hint
		}
		f.Fields = append(f.Fields, *at)
	}
	var err error
	if f.Providers, err = p.providers(r); err != nil {
		return err
	}
	f.adapt(before)
	f.find("provider").Focus = failure == nil
	title := "New webhook"
	if before.EventKey != "" {
		title = "Edit " + before.EventKey
	}
	return p.render(w, r, status, "webhook_form", title, f)
}

// adapt gives fields choices and labels.
func (f *webhookForm) adapt(before sluice.WebhookView) {
	f.find("eventKey").Required = true
	certificate := f.find("clientCertificate")
	certificate.Input, certificate.Rows = "area", 4
	f.find("payloadType").Choices = []choice{
		{Value: string(sluice.Raw), Label: "raw: JSON and text as they are"},
		{Value: string(sluice.Base64), Label: "base64: every byte is kept"},
		{Value: string(sluice.Ignore), Label: "ignore: it is left out"},
	}
	f.find("disabled").Choices = []choice{{Value: "false", Label: "no"}, {Value: "true", Label: "yes"}}
	answer := f.find("answer")
	answer.Input, answer.Choices = "select", []choice{
		{Value: "", Label: "as the sender wants it, or the result in JSON"},
		{Value: string(sluice.AnswerResult), Label: "result: in JSON, with its state"},
		{Value: string(sluice.AnswerValue), Label: "value: what pipelines make, as it is"},
		{Value: string(sluice.AnswerEmpty), Label: "empty: nothing, at once"},
	}
	f.find("multipart").Choices = []choice{{Value: "files", Label: "files: the parts named file"}, {Value: "all", Label: "all: every field and every file"}}
	sender := f.find("provider")
	sender.Input, sender.Choices = "select", []choice{{Value: "", Label: "any system that has the URL"}}
	for _, known := range f.Providers {
		sender.Choices = append(sender.Choices, choice{Value: known.Provider, Label: known.Title})
		if known.Provider != f.Chosen || before.EventKey != "" {
			continue
		}
		f.find("signingSecret").Required = known.Fixed()
		if key := f.find("eventKey"); key.Value == "" {
			key.Value = known.Key()
		}
	}
	if before.IsSigned() {
		f.find("signingSecret").Help += " Left empty it stays as it is."
	}
}

func (p *Portal) webhookCreate(w http.ResponseWriter, r *http.Request) error {
	if r.PostForm.Get("do") == "show" { // shows the sender's fields where there are no scripts
		return p.webhookForm(w, r, http.StatusOK, sluice.WebhookView{}, r.PostForm, nil)
	}
	return p.webhookPut(w, r, sluice.WebhookView{}, "created")
}

func (p *Portal) webhookEdit(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	entered := url.Values{
		"eventKey": {hook.EventKey}, "payloadType": {string(hook.PayloadType)}, "maxPayloadLength": {strconv.Itoa(hook.MaxPayloadLength)},
		"provider": {hook.Provider}, "description": {hook.Description}, "verifyToken": {hook.VerifyToken}, "dedupe": {hook.Dedupe},
		"methods": {strings.Join(hook.Methods, ", ")}, "allow": {strings.Join(hook.Allow, ", ")}, "redact": {strings.Join(hook.Redact, ", ")}, "clientCertificate": {hook.ClientCert}, "clientName": {hook.ClientName},
		"dedupeWindow": {hook.DedupeWindow}, "expectEvery": {hook.ExpectEvery}, "apiUrl": {hook.APIURL}, "missedEvery": {hook.MissedEvery}, "keep": {hook.Keep}, "multipart": {string(hook.Multipart)}, "disabled": {strconv.FormatBool(hook.Disabled)},
	}
	if err := p.enterAnswer(r, hook, entered); err != nil {
		return err
	}
	for name, document := range map[string]json.RawMessage{"schema": hook.Schema, "signature": hook.Signature} {
		if document != nil {
			entered.Set(name, pretty(document))
		}
	}
	return p.webhookForm(w, r, http.StatusOK, hook, entered, nil)
}

// enterAnswer enters how calls of a webhook are answered, unless its sender's way is meant.
func (p *Portal) enterAnswer(r *http.Request, hook sluice.WebhookView, entered url.Values) error {
	entered.Set("answerWait", hook.AnswerWait)
	known, err := p.providers(r)
	if err != nil {
		return err
	}
	own := sluice.ProviderView{Answer: sluice.AnswerResult}
	if at := slices.IndexFunc(known, func(v sluice.ProviderView) bool { return v.Provider == hook.Provider }); at >= 0 {
		own = known[at]
	}
	if hook.Answer != own.Answer {
		own.AnswerType = ""
		entered.Set("answer", string(hook.Answer))
	}
	if hook.AnswerType != own.AnswerType {
		entered.Set("answerType", hook.AnswerType)
	}
	return nil
}

func (p *Portal) webhookSave(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	return p.webhookPut(w, r, hook, "saved")
}

// webhookPut stores what was entered as a new webhook, or in place of before.
func (p *Portal) webhookPut(w http.ResponseWriter, r *http.Request, before sluice.WebhookView, done string) error {
	cmd, _ := p.Commands.Find("webhook.put")
	made, err := p.fillSecrets(r, before)
	if err != nil {
		return err
	}
	given := argsOf(cmd, r.PostForm)
	if before.UUID != "" {
		given = append(given, argument("uuid", command.Text(before.UUID)))
		given = append(given, emptied(before, r.PostForm)...)
	}
	hook, err := ask[sluice.WebhookView](p, r, "webhook.put", given)
	if err != nil {
		if !isMistake(err) {
			return err
		}
		return p.webhookForm(w, r, problem.Status(err), before, r.PostForm, err)
	}
	if made != "" {
		return p.renderWebhook(w, r, http.StatusOK, webhookView{WebhookView: hook, Made: made})
	}
	if before.UUID == "" && hook.Warnings != nil {
		done += "&unusual=yes"
	}
	return p.redirect(w, r, "/webhooks/"+url.PathEscape(hook.EventKey)+"?done="+done)
}

// emptied returns arguments that remove the values of fields that were emptied.
func emptied(before sluice.WebhookView, entered url.Values) (given command.Args) {
	for name, had := range map[string]bool{
		"provider": before.Provider != "", "description": before.Description != "", "verifyToken": before.VerifyToken != "",
		"expectEvery": before.ExpectEvery != "", "apiUrl": before.APIURL != "", "missedEvery": before.MissedEvery != "", "keep": before.Keep != "", "schema": before.Schema != nil, "signature": before.Signature != nil,
		"answer": true, "answerType": before.AnswerType != "", "answerWait": before.AnswerWait != "",
		"allow": before.Allow != nil, "redact": before.Redact != nil, "clientCertificate": before.ClientCert != "", "clientName": before.ClientName != "",
	} {
		if had && entered.Has(name) && entered.Get(name) == "" {
			given = append(given, argument(name, command.Text("")))
		}
	}
	return given
}

// newSecret returns a random secret in hex, which is valid base64 too.
func newSecret() string {
	secret := make([]byte, 20)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}

// fillSecrets makes up secrets that were left empty in the form of a webhook. Some
// senders show theirs only once they have the URL: until it is entered here, all calls
// are rejected. It returns a secret that people must enter at the sender.
func (p *Portal) fillSecrets(r *http.Request, before sluice.WebhookView) (made string, err error) {
	entered := r.PostForm
	entered.Set("signingSecret", strings.TrimSpace(entered.Get("signingSecret")))
	name := entered.Get("provider")
	if name == "" || !p.allows(r, "provider.get") {
		return "", nil
	}
	preset, err := ask[sluice.ProviderView](p, r, "provider.get", args("provider", name))
	if err != nil {
		return "", err
	}
	if preset.VerifyToken && entered.Get("verifyToken") == "" && before.UUID == "" {
		entered.Set("verifyToken", newSecret())
	}
	if !preset.SecretRequired || preset.Fixed() || before.IsSigned() || entered.Get("signingSecret") != "" {
		return "", nil
	}
	secret := newSecret()
	entered.Set("signingSecret", secret)
	if !preset.Chosen() {
		return "", nil
	}
	return secret, nil
}

// webhookSecret stores the signing secret that was entered, or a new one, which it
// shows once.
func (p *Portal) webhookSecret(w http.ResponseWriter, r *http.Request, hook sluice.WebhookView) error {
	view := webhookView{WebhookView: hook}
	secret := strings.TrimSpace(r.PostForm.Get("signingSecret"))
	if r.PostForm.Get("do") == "make" {
		secret = newSecret()
		view.Made = secret
	}
	if secret == "" {
		view.Wrong = "Enter the signing secret."
		return p.renderWebhook(w, r, http.StatusBadRequest, view)
	}
	_, err := ask[sluice.WebhookView](p, r, "webhook.put", append(args("uuid", hook.UUID), argument("signingSecret", command.Text(secret))))
	switch {
	case err != nil && isMistake(err):
		view.Made, view.Wrong = "", sluice.AsError(err).Message
		return p.renderWebhook(w, r, problem.Status(err), view)
	case err != nil:
		return err
	case view.Made != "":
		return p.renderWebhook(w, r, http.StatusOK, view)
	}
	return p.redirect(w, r, "/webhooks/"+url.PathEscape(hook.EventKey)+"?done=secret")
}
