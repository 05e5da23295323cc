package webhooks

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
	"sluice/problem"
	"sluice/value"
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
	return renderWebhookForm(v, http.StatusOK, sluice.WebhookView{}, query, nil)
}

func renderWebhookForm(
	v *page.Visit, status int, before sluice.WebhookView, entered url.Values, failure error,
) (err error) {
	f := &webhookForm{Key: before.EventKey, Tag: before.ETag, Chosen: entered.Get("provider")}
	for _, param := range webhookSettings(v) {
		f.ask(param, entered)
	}
	f.Blame(failure)
	if f.Providers, err = providers(v); err != nil {
		return err
	}
	f.adapt(before)
	f.Find("provider").Focus = failure == nil
	title := "New webhook"
	if before.EventKey != "" {
		title = "Edit " + before.EventKey
	}
	return v.ShowAs(status, "webhook_form", title, f)
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
		return renderWebhookForm(v, http.StatusOK, sluice.WebhookView{}, v.R.PostForm, nil)
	}
	return webhookPut(v, sluice.WebhookView{}, "created")
}

func webhookEdit(v *page.Visit, hook sluice.WebhookView) error {
	stored, err := membersOf(hook)
	if err != nil {
		return err
	}
	entered := url.Values{}
	for _, param := range webhookSettings(v) {
		if !param.Form.Secret {
			entered.Set(param.Name, textOf(param, stored[param.Name]))
		}
	}
	if err := enterAnswer(v, hook, entered); err != nil {
		return err
	}
	return renderWebhookForm(v, http.StatusOK, hook, entered, nil)
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
		return page.Pretty(stored)
	case json.Unmarshal(stored, &text) == nil:
		return text
	case json.Unmarshal(stored, &list) == nil:
		return strings.Join(list, ", ")
	}
	return string(stored)
}

// enterAnswer leaves out how calls of a webhook are answered where its sender's way is meant.
func enterAnswer(v *page.Visit, hook sluice.WebhookView, entered url.Values) error {
	known, err := providers(v)
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

func webhookSave(v *page.Visit, hook sluice.WebhookView) error {
	return webhookPut(v, hook, "saved")
}

// webhookPut stores what was entered as a new webhook, or in place of before.
func webhookPut(v *page.Visit, before sluice.WebhookView, done string) error {
	cmd, _ := v.Commands.Find("webhook.put")
	made, err := fillSecrets(v, before)
	if err != nil {
		return err
	}
	given := page.ArgsOf(cmd, v.R.PostForm)
	if before.UUID != "" {
		given = append(given, page.Args("uuid", command.Text(before.UUID))...)
		emptied, err := emptied(v, before, v.R.PostForm)
		if err != nil {
			return err
		}
		given = append(given, emptied...)
	}
	hook, err := page.Ask[sluice.WebhookView](v, "webhook.put", given)
	if err != nil {
		if !page.IsMistake(err) {
			return err
		}
		return renderWebhookForm(v, problem.Status(err), before, v.R.PostForm, err)
	}
	if made != "" {
		return renderWebhook(v, http.StatusOK, webhookView{WebhookView: hook, Made: made})
	}
	if before.UUID == "" && hook.Warnings != nil {
		done += "&unusual=yes"
	}
	return v.Redirect(webhookPath(hook.EventKey) + "?done=" + done)
}

// emptied returns arguments that remove the values of fields that were emptied.
func emptied(v *page.Visit, before sluice.WebhookView, entered url.Values) (given command.Args, err error) {
	stored, err := membersOf(before)
	for _, param := range webhookSettings(v) {
		name := param.Name
		if stored[name] != nil && !param.Form.Secret && entered.Has(name) && entered.Get(name) == "" {
			given = append(given, page.Args(name, command.Text(param.Form.Emptied))...)
		}
	}
	return given, err
}
