package webhooks

import (
	"cmp"
	"net/url"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// A webhookForm is the page where people create or edit a webhook. Its fields come from the
// parameters of webhook.put.
type webhookForm struct {
	page.Form

	Key       string // "" for a new webhook
	Tag       string // of the edited version, so that no other edit is lost
	Providers []sluice.ProviderView
	Chosen    string // provider

	main int // how many of the fields most webhooks need
}

// Main returns the fields that most webhooks need.
func (f *webhookForm) Main() []page.Field { return f.Fields[:f.main] }

// More returns the fields that few webhooks need.
func (f *webhookForm) More() []page.Field { return f.Fields[f.main:] }

// Opened reports whether a field of More has a mistake.
func (f *webhookForm) Opened() bool {
	return slices.ContainsFunc(f.More(), func(at page.Field) bool { return at.Problem != "" })
}

// webhookSettings returns the parameters that people fill in, in the order of the form.
func webhookSettings(v *page.Visit) []command.Param {
	cmd, _ := v.Commands.Find("webhook.put")
	params := slices.DeleteFunc(slices.Clone(cmd.Params), func(p command.Param) bool { return p.Form.Label == "" })
	slices.SortStableFunc(params, func(a, b command.Param) int { return a.Form.Place - b.Form.Place })
	return params
}

// ask adds the field of a parameter, with what was entered.
func (f *webhookForm) ask(p command.Param, entered url.Values) {
	at, asked := page.FieldOf(p, entered), p.Form
	at.Label, at.Help, at.Hint, at.Required = asked.Label, asked.Help, cmp.Or(asked.Hint, at.Hint), asked.Required
	if asked.Rows > 0 {
		at.Input, at.Rows = "area", asked.Rows
	}
	if asked.Choices != nil {
		at.Input, at.Choices = "select", nil
	}
	for _, c := range asked.Choices {
		at.Choices = append(at.Choices, page.Choice{Value: c[0], Label: c[1]})
	}
	if asked.Main {
		f.Fields = slices.Insert(f.Fields, f.main, at)
		f.main++
		return
	}
	f.Fields = append(f.Fields, at)
}

func webhookNew(v *page.Visit) error {
	query := v.R.URL.Query()
	if !query.Has("payloadType") {
		query.Set("payloadType", string(sluice.Raw))
	}
	return renderWebhookForm(v, sluice.WebhookView{}, query, nil)
}

func renderWebhookForm(v *page.Visit, before sluice.WebhookView, entered url.Values, failure error) error {
	f := &webhookForm{Key: before.EventKey, Tag: before.ETag, Chosen: entered.Get("provider")}
	for _, param := range webhookSettings(v) {
		f.ask(param, entered)
	}
	f.Blame(failure)
	f.Providers = providers(v)
	f.adapt(before)
	f.Find("provider").Focus = failure == nil
	title := "New webhook"
	if before.EventKey != "" {
		title = "Edit " + before.EventKey
	}
	return v.Show("webhook_form", title, f)
}

// adapt offers the known senders, and proposes what suits the chosen one.
func (f *webhookForm) adapt(before sluice.WebhookView) {
	sender := f.Find("provider")
	sender.Input, sender.Choices = "select", []page.Choice{{Value: "", Label: "any system that has the URL"}}
	for _, known := range f.Providers {
		sender.Choices = append(sender.Choices, page.Choice{Value: known.Provider, Label: known.Title})
		if known.Provider != f.Chosen || before.EventKey != "" {
			continue
		}
		f.Find("signingSecret").Required = known.Fixed()
		if key := f.Find("eventKey"); key.Value == "" {
			key.Value = known.Key()
		}
	}
	if before.IsSigned() {
		f.Find("signingSecret").Help += " Left empty it stays as it is."
	}
}

func webhookCreate(v *page.Visit) error {
	if v.Entered("do") == "show" { // shows the sender's fields where there are no scripts
		return renderWebhookForm(v, sluice.WebhookView{}, v.R.PostForm, nil)
	}
	return webhookPut(v, sluice.WebhookView{})
}

func webhookEdit(v *page.Visit, hook sluice.WebhookView) error {
	entered := v.Stored(hook)
	for _, param := range webhookSettings(v) {
		switch {
		case param.Form.Secret:
			entered.Del(param.Name)
		case !entered.Has(param.Name):
			entered.Set(param.Name, param.Form.Emptied)
		}
	}
	leaveToSender(v, hook, entered)
	return renderWebhookForm(v, hook, entered, nil)
}

// leaveToSender leaves out what is as the sender of a webhook has it.
func leaveToSender(v *page.Visit, hook sluice.WebhookView, entered url.Values) {
	own := senderOf(hook, providers(v), sluice.ProviderView{
		Answer: sluice.AnswerResult, MaxPayloadLength: sluice.DefaultPayloadLength,
	})
	if hook.MaxPayloadLength == own.MaxPayloadLength {
		entered.Del("maxPayloadLength")
	}
	if hook.Answer != own.Answer {
		own.AnswerType = ""
	} else {
		entered.Del("answer")
	}
	if hook.AnswerType == own.AnswerType {
		entered.Del("answerType")
	}
}

// webhookPut stores what was entered as a new webhook, or in place of before.
func webhookPut(v *page.Visit, before sluice.WebhookView) error {
	cmd, _ := v.Commands.Find("webhook.put")
	made := fillSecrets(v, before)
	given, done := page.ArgsOf(cmd, v.R.PostForm), "created"
	if before.UUID != "" {
		done = "saved"
		given = append(given, page.Args("uuid", before.UUID, emptied(v, before, v.R.PostForm))...)
	}
	hook, err := page.Try[sluice.WebhookView](v, "webhook.put", given)
	if err != nil {
		return v.Correct(err, func(v *page.Visit, mistake error) error {
			return renderWebhookForm(v, before, v.R.PostForm, mistake)
		})
	}
	if made != "" {
		return renderWebhook(v, webhookView{WebhookView: hook, Made: made})
	}
	if before.UUID == "" && hook.Warnings != nil {
		done += "&unusual=yes"
	}
	return v.Redirect(webhookPath(hook.EventKey) + "?done=" + done)
}

// emptied returns arguments that remove the values of fields that were emptied.
func emptied(v *page.Visit, before sluice.WebhookView, entered url.Values) (given command.Args) {
	stored := v.Stored(before)
	for _, param := range webhookSettings(v) {
		name := param.Name
		if stored.Has(name) && !param.Form.Secret && entered.Has(name) && entered.Get(name) == "" {
			given = append(given, page.Args(name, command.Text(param.Form.Emptied))...)
		}
	}
	return given
}
