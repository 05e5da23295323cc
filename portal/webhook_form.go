package portal

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/problem"
	"sluice/value"
)

// A webhookForm is the page where people create or edit a webhook. Its fields come from the
// parameters of webhook.put.
type webhookForm struct {
	form

	Key       string // "" for a new webhook
	Tag       string // of the edited version, so that no other edit is lost
	Providers []sluice.ProviderView
	Chosen    string // provider

	main int // how many of the fields most webhooks need
}

// Main returns the fields that most webhooks need.
func (f *webhookForm) Main() []field { return f.Fields[:f.main] }

// More returns the fields that few webhooks need.
func (f *webhookForm) More() []field { return f.Fields[f.main:] }

// Opened reports whether a field of More has a mistake.
func (f *webhookForm) Opened() bool {
	return slices.ContainsFunc(f.More(), func(at field) bool { return at.Problem != "" })
}

// webhookSettings returns the parameters that people fill in, in the order of the form.
func (p *Portal) webhookSettings() []command.Param {
	cmd, _ := p.Commands.Find("webhook.put")
	params := slices.DeleteFunc(slices.Clone(cmd.Params), func(p command.Param) bool { return p.Form.Label == "" })
	slices.SortStableFunc(params, func(a, b command.Param) int { return a.Form.Place - b.Form.Place })
	return params
}

// ask adds the field of a parameter, with what was entered.
func (f *webhookForm) ask(p command.Param, entered url.Values) {
	at, asked := fieldOf(p, entered), p.Form
	at.Label, at.Help, at.Hint, at.Required = asked.Label, asked.Help, cmp.Or(asked.Hint, at.Hint), asked.Required
	if asked.Rows > 0 {
		at.Input, at.Rows = "area", asked.Rows
	}
	if asked.Choices != nil {
		at.Input, at.Choices = "select", nil
	}
	for _, c := range asked.Choices {
		at.Choices = append(at.Choices, choice{Value: c[0], Label: c[1]})
	}
	if asked.Main {
		f.Fields = slices.Insert(f.Fields, f.main, at)
		f.main++
		return
	}
	f.Fields = append(f.Fields, at)
}

func (p *Portal) webhookNew(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	if !query.Has("payloadType") {
		query.Set("payloadType", string(sluice.Raw))
	}
	return p.webhookForm(w, r, http.StatusOK, sluice.WebhookView{}, query, nil)
}

func (p *Portal) webhookForm(
	w http.ResponseWriter, r *http.Request, status int, before sluice.WebhookView, entered url.Values, failure error,
) (err error) {
	f := &webhookForm{Key: before.EventKey, Tag: before.ETag, Chosen: entered.Get("provider")}
	for _, param := range p.webhookSettings() {
		f.ask(param, entered)
	}
	f.blame(failure)
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

// adapt offers the known senders, and proposes what suits the chosen one.
func (f *webhookForm) adapt(before sluice.WebhookView) {
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
	stored, err := membersOf(hook)
	if err != nil {
		return err
	}
	entered := url.Values{}
	for _, param := range p.webhookSettings() {
		if !param.Form.Secret {
			entered.Set(param.Name, textOf(param, stored[param.Name]))
		}
	}
	if err := p.enterAnswer(r, hook, entered); err != nil {
		return err
	}
	return p.webhookForm(w, r, http.StatusOK, hook, entered, nil)
}

// membersOf returns the members of a view, by name.
func membersOf(view any) (members map[string]json.RawMessage, err error) {
	document, err := value.Marshal(view)
	if err == nil {
		err = json.Unmarshal(document, &members)
	}
	return members, err
}

// textOf returns a stored value as it stands in a form.
func textOf(p command.Param, stored json.RawMessage) string {
	var text string
	var list []string
	switch {
	case stored == nil:
		return p.Form.Emptied
	case p.Type == "":
		return pretty(stored)
	case json.Unmarshal(stored, &text) == nil:
		return text
	case json.Unmarshal(stored, &list) == nil:
		return strings.Join(list, ", ")
	}
	return string(stored)
}

// enterAnswer leaves out how calls of a webhook are answered where its sender's way is meant.
func (p *Portal) enterAnswer(r *http.Request, hook sluice.WebhookView, entered url.Values) error {
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
	} else {
		entered.Del("answer")
	}
	if hook.AnswerType == own.AnswerType {
		entered.Del("answerType")
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
		emptied, err := p.emptied(before, r.PostForm)
		if err != nil {
			return err
		}
		given = append(given, emptied...)
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
func (p *Portal) emptied(before sluice.WebhookView, entered url.Values) (given command.Args, err error) {
	stored, err := membersOf(before)
	for _, param := range p.webhookSettings() {
		name := param.Name
		if stored[name] != nil && !param.Form.Secret && entered.Has(name) && entered.Get(name) == "" {
			given = append(given, argument(name, command.Text(param.Form.Emptied)))
		}
	}
	return given, err
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
